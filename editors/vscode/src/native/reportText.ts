import type { DoctorResult, SessionStats } from '../wire.gen';

type Translate = (text: string, ...values: (string | number | boolean)[]) => string;

/** Returns the problems of a session file, as Markdown. */
export function doctorReport(result: DoctorResult, t: Translate): string {
  const problems = result.problems ?? [];
  if (problems.length === 0) {
    return `# ${t('Session Check')}\n\n${t('No problems found in this session file.')}\n`;
  }
  const lines = problems.map((p) => {
    const where = p.line ? t('Line {0}', p.line) : (p.entryId ?? '');
    return `| ${cell(where)} | ${cell(p.kind)} | ${cell(p.message)} | ${p.lost ? t('yes') : ''} |`;
  });
  return [
    `# ${t('Session Check')}`,
    '',
    t('Checking does not change the file.'),
    '',
    `| ${t('Location')} | ${t('Kind')} | ${t('Problem')} | ${t('Content lost')} |`,
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** Returns the statistics of a session, as Markdown. */
export function statsReport(stats: SessionStats, t: Translate): string {
  const { usage, contextUsage } = stats;
  const count = (n: number): string => n.toLocaleString('en-US');
  const table = (heading: string, rows: readonly (readonly [string, string])[]): string[] =>
    rows.length === 0
      ? []
      : [`| ${heading} | |`, '|---|---:|', ...rows.map(([name, value]) => `| ${cell(name)} | ${value} |`), ''];
  const counts = (of: Record<string, number>, name = (key: string) => key): (readonly [string, string])[] =>
    Object.entries(of)
      .sort(([, a], [, b]) => b - a)
      .map(([key, n]) => [name(key), count(n)] as const);
  return [
    `# ${t('Session Statistics')}`,
    '',
    ...table(
      t('Messages'),
      counts(stats.messages, (role) => roleName(role, t)),
    ),
    ...table(t('Tool calls'), counts(stats.toolCalls)),
    ...table(t('Tokens'), [
      [t('Input'), count(usage.input)],
      [t('Output'), count(usage.output)],
      [t('Cache reads'), count(usage.cacheRead)],
      [t('Cache writes'), count(usage.cacheWrite)],
      [t('Total'), count(usage.totalTokens)],
      [t('Cost (USD)'), usage.cost.toFixed(4)],
    ]),
    ...table(t('Context'), [
      [t('Tokens in context'), count(contextUsage.tokens)],
      ...(contextUsage.contextWindow
        ? ([
            [t('Context window'), count(contextUsage.contextWindow)],
            [t('Context used'), `${(contextUsage.percent ?? 0).toFixed(1)}%`],
          ] as const)
        : []),
    ]),
  ].join('\n');
}

/** The name of a message role; unknown roles keep the name that the session file uses. */
function roleName(role: string, t: Translate): string {
  switch (role) {
    case 'user':
      return t('User');
    case 'assistant':
      return t('Assistant');
    case 'toolResult':
      return t('Tool results');
    case 'bashExecution':
      return t('User commands');
    default:
      return role;
  }
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
