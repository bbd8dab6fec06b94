import { cut, maxBytes } from './answer';

/** A problem of a file that a language extension reports. */
export interface Problem {
  path: string; // relative to the folder
  line: number; // from 1
  column: number;
  severity: number; // 0 error, 1 warning, 2 information, 3 hint
  message: string;
  source: string; // with its code, "" if unknown
}

const severities = ['error', 'warning', 'info', 'hint'];
const maxProblems = 200;
const maxMessage = 2000; // UTF-16 units

/** Lists problems, the worst first, each on a line. Returns undefined if there are none. */
export function problemsText(problems: readonly Problem[]): string | undefined {
  if (problems.length === 0) {
    return undefined;
  }
  const sorted = [...problems].sort(
    (a, b) => a.severity - b.severity || a.path.localeCompare(b.path) || a.line - b.line || a.column - b.column,
  );
  const lines: string[] = [];
  let left = maxBytes - 100; // room for the last line
  for (const problem of sorted.slice(0, maxProblems)) {
    const line = lineOf(problem);
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) {
      break;
    }
    lines.push(line);
  }
  const rest = problems.length - lines.length;
  return lines.join('\n') + (rest > 0 ? `\n… and ${rest} more` : '');
}

function lineOf({ path, line, column, severity, message, source }: Problem): string {
  const text = cut(message.slice(0, maxMessage), 'start').replace(/\s*[\r\n]+\s*/g, ' ');
  return `${path}:${line}:${column}: ${severities[severity] ?? 'hint'}: ${text}${source ? ` [${source}]` : ''}`;
}
