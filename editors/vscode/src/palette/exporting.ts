const endings: Record<string, string> = { html: 'html', markdown: 'md', text: 'txt', jsonl: 'jsonl' };

/** Returns a file name made from a session's name, with the format's extension. */
export function exportName(name: string, format: string): string {
  const safe = name
    .normalize('NFC')
    .replace(/[\u0000-\u001f<>:"/\\|?*]+/g, ' ')
    .replace(/(\.\.\.|…)$/, '')
    .replace(/\s+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60);
  return `${safe || 'session'}.${endings[format] ?? 'html'}`;
}

/** Returns the formats of a save dialog, the requested one first; the chosen extension determines the format. */
export function exportFilters(format: string, t: (text: string) => string): Record<string, string[]> {
  const names: Record<string, string> = {
    html: t('Web page'),
    markdown: 'Markdown',
    text: t('Plain text'),
    jsonl: t('Session file'),
  };
  const order = [format, ...Object.keys(endings).filter((other) => other !== format)];
  const filters: Record<string, string[]> = {};
  for (const key of order) {
    const name = names[key];
    const ending = endings[key];
    if (name !== undefined && ending !== undefined) {
      filters[name] = [ending];
    }
  }
  return filters;
}
