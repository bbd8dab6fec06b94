import { cut } from './answer';

// The sequences of a terminal: operating system commands, control sequences, and single characters after an escape.

const sequences =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[PX^_][^\u001b]*\u001b\\|\u001b[ -/]*[0-~]/g;

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Returns the text that a terminal showed, without its sequences. A line that was overwritten has its last text. */
export function plainOutput(raw: string): string {
  return raw
    .replace(sequences, '')
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).replace(controls, ''))
    .join('\n');
}

/** A command of a terminal. */
export interface Ran {
  command: string;
  output: string; // as it was written, or its end
  exitCode: number | undefined; // unknown while it is running
  running: boolean;
}

/** Describes a command and its output. The end of a long output is kept. */
export function ranText({ command, output, exitCode, running }: Ran): string {
  const state = running ? '(still running)' : exitCode === undefined ? '' : `(exit code ${exitCode})`;
  const head = `$ ${cut(plainOutput(command), 'start', 4 << 10)}`;
  const body = plainOutput(output).replace(/\s+$/, '');
  return [head, cut(body, 'end', 58 << 10), state].filter((part) => part !== '').join('\n');
}

/** Collects output as it arrives, and keeps its end. */
export class Tail {
  #text = '';

  constructor(private readonly most = 128 << 10) {}

  add(piece: string): void {
    this.#text += piece;
    if (this.#text.length > 2 * this.most) {
      this.#text = this.#text.slice(-this.most);
    }
  }

  get text(): string {
    return this.#text.slice(-this.most);
  }
}
