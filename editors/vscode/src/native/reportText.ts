import type { DoctorResult, SessionStats } from '../wire.gen';

type Translate = (text: string, ...values: (string | number | boolean)[]) => string;

/** What is wrong with a session file, as Markdown. */
export function doctorReport(result: DoctorResult, t: Translate): string {
  const problems = result.problems ?? [];
  if (problems.length === 0) {
    return `# ${t('Session Check')}\n\n${t('Nothing is wrong with this session file.')}\n`;
  }
  const lines = problems.map((p) => {
    const where = p.line ? t('Line {0}', p.line) : (p.entryId ?? '');
    return `| ${cell(where)} | ${cell(p.kind)} | ${cell(p.message)} | ${p.lost ? t('yes') : ''} |`;
  });
  return [
    `# ${t('Session Check')}`,
    '',
    t('The bytes of the file stay as they are, whatever is wrong with them.'),
    '',
    `| ${t('Where')} | ${t('Kind')} | ${t('What')} | ${t('Lost to readers')} |`,
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** The figures of a session, as Markdown. */
export function statsReport(stats: SessionStats, t: Translate): string {
  const { usage, contextUsage } = stats;
  const count = (n: number): string => n.toLocaleString('en-US');
  const table = (heading: string, rows: readonly (readonly [string, string])[]): string[] =>
    rows.length === 0
      ? []
      : [`| ${heading} | |`, '|---|---:|', ...rows.map(([name, value]) => `| ${cell(name)} | ${value} |`), ''];
  const counts = (of: Record<string, number>): (readonly [string, string])[] =>
    Object.entries(of)
      .sort(([, a], [, b]) => b - a)
      .map(([name, n]) => [name, count(n)] as const);
  return [
    `# ${t('Session Statistics')}`,
    '',
    ...table(t('Messages'), counts(stats.messages)),
    ...table(t('Tool calls'), counts(stats.toolCalls)),
    ...table(t('Tokens'), [
      [t('Read'), count(usage.input)],
      [t('Written'), count(usage.output)],
      [t('From the cache'), count(usage.cacheRead)],
      [t('Into the cache'), count(usage.cacheWrite)],
      [t('All'), count(usage.totalTokens)],
      [t('Cost in US dollars'), usage.cost.toFixed(4)],
    ]),
    ...table(t('Context'), [
      [t('Tokens now'), count(contextUsage.tokens)],
      ...(contextUsage.contextWindow
        ? ([
            [t('Window of the model'), count(contextUsage.contextWindow)],
            [t('Full to'), `${(contextUsage.percent ?? 0).toFixed(1)} %`],
          ] as const)
        : []),
    ]),
  ].join('\n');
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
