import * as vscode from 'vscode';

import { innermost } from '../folders';
import type { Host } from '../host';
import type { ChangedFile, HunkRef } from '../wire.gen';
import { ChangeLenses } from './codeLens';
import { grouped, hunksAt, Once, referTo, type LineChange } from './hunks';
import { openFileChange, reviewFiles } from './opening';
import { takeBack } from './rewinding';
import { ChangesControl, type ChangedResource } from './sourceControl';
import { ChangeStates } from './states';
import { SideTexts } from './texts';

const t = vscode.l10n.t;

/** A second press within this time after an action is unintended. In milliseconds. */
const doublePressMs = 400;

/** Sets up the review of file changes: source control, gutter, commands. */
export function activateChanges(host: Host, lenses: () => boolean): vscode.Disposable {
  const states = new ChangeStates(host);
  const texts = new SideTexts(host);
  return vscode.Disposable.from(
    states,
    texts,
    new Controls(host, states, texts),
    new ChangeLenses(host, states, lenses),
    ...new Commands(host, states).register(),
  );
}

/** Manages a source control provider for each folder whose session changed files. */
class Controls implements vscode.Disposable {
  readonly #controls = new Map<string, ChangesControl>();
  readonly #subscription: vscode.Disposable;

  constructor(
    private readonly host: Host,
    private readonly states: ChangeStates,
    private readonly texts: SideTexts,
  ) {
    this.#subscription = states.onDidChange((cwd) => this.#show(cwd));
  }

  #show(cwd: string): void {
    const state = this.states.of(cwd);
    const folder = this.host.folders.find((f) => f.cwd === cwd);
    const { review, kept } = grouped(state?.files ?? []);
    if (!state || !folder || review.length + kept.length === 0) {
      this.#controls.get(cwd)?.dispose();
      this.#controls.delete(cwd);
    } else {
      const control = this.#controls.get(cwd) ?? new ChangesControl(folder);
      this.#controls.set(cwd, control);
      control.show(state);
    }
    this.texts.refresh(cwd);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#controls.forEach((control) => control.dispose());
  }
}

/** The files that a command applies to. */
interface Chosen {
  readonly cwd: string;
  readonly files: readonly ChangedFile[];
}

/** The argument of a code lens. */
const isLensArgument = (v: unknown): v is HunkRef & { cwd: string } =>
  typeof v === 'object' && v !== null && 'hunk' in v && 'cwd' in v && 'path' in v;

const isResource = (v: unknown): v is ChangedResource =>
  typeof v === 'object' && v !== null && 'file' in v && 'cwd' in v;

class Commands {
  readonly #once = new Once(doublePressMs);

  constructor(
    private readonly host: Host,
    private readonly states: ChangeStates,
  ) {}

  register(): vscode.Disposable[] {
    const register = (name: string, run: (...args: unknown[]) => Promise<void>): vscode.Disposable =>
      vscode.commands.registerCommand(`xcshLs.changes.${name}`, (...args: unknown[]) =>
        this.#once.run(name, () => run(...args)).catch((error: unknown) => this.host.showError(error)),
      );
    return [
      // Opening another file right after one is intended.
      vscode.commands.registerCommand('xcshLs.changes.open', (resource: unknown) =>
        this.#open(resource).catch((error: unknown) => this.host.showError(error)),
      ),
      register('openFile', async (resource) => {
        if (isResource(resource)) {
          await vscode.commands.executeCommand('vscode.open', resource.resourceUri);
        }
      }),
      register('review', () => this.#review()),
      register('keepHunk', (...args) => this.#keepHunk(args)),
      register('undoHunk', (...args) => this.#undoHunk(args)),
      register('keepFile', (...args) => this.#keepFiles(args)),
      register('undoFile', (...args) => this.#undoFiles(args)),
      register('keepAll', () => this.#keepAll()),
      register('undoAll', () => this.#undoAll()),
      register('redo', () => this.#redo()),
    ];
  }

  async #open(resource: unknown): Promise<void> {
    if (isResource(resource)) {
      await openFileChange(resource.cwd, resource.file);
    }
  }

  /** Returns the folder for a command without an argument: the current one, if its session changed files. */
  #folder(): string | undefined {
    const live = this.host.liveFolder?.cwd;
    return live !== undefined && this.states.of(live) ? live : (this.states.folders[0] ?? live);
  }

  /** Returns the files with changes to review of that folder. */
  async #pending(): Promise<Chosen | undefined> {
    const cwd = this.#folder();
    if (cwd === undefined) {
      return undefined;
    }
    await this.states.read(cwd);
    const { review } = grouped(this.states.of(cwd)?.files ?? []);
    if (review.length > 0) {
      return { cwd, files: review };
    }
    void vscode.window.showInformationMessage(t('There are no changes to review.'));
    return undefined;
  }

  async #review(): Promise<void> {
    const chosen = await this.#pending();
    if (chosen) {
      await reviewFiles(chosen.cwd, chosen.files, t('Changes by xcsh'));
    }
  }

  /** Returns the hunks of a code lens or of a change in the gutter. */
  async #hunks(args: readonly unknown[]): Promise<{ cwd: string; hunks: HunkRef[] } | undefined> {
    const [first, changes, index] = args;
    if (isLensArgument(first)) {
      return { cwd: first.cwd, hunks: [{ path: first.path, hunk: first.hunk }] };
    }
    const change = Array.isArray(changes) && typeof index === 'number' ? (changes[index] as LineChange) : undefined;
    if (!(first instanceof vscode.Uri) || !change) {
      return undefined;
    }
    const path = first.fsPath;
    const cwd = innermost(this.host.folders, path)?.cwd;
    if (cwd === undefined) {
      return undefined;
    }
    const result = await this.host.request('xcsh.changes', { cwd, since: 'session', path, hunks: true });
    const file = result.files?.find((f) => f.path === path);
    const hunks = referTo(path, hunksAt(file?.hunks ?? [], change));
    if (hunks.length === 0) {
      this.states.later(cwd);
      void vscode.window.showInformationMessage(t('This change no longer exists, or it was already reviewed.'));
      return undefined;
    }
    return { cwd, hunks };
  }

  async #keepHunk(args: readonly unknown[]): Promise<void> {
    const chosen = await this.#hunks(args);
    if (chosen) {
      await this.host.request('xcsh.keep', chosen);
      this.states.later(chosen.cwd);
    }
  }

  async #undoHunk(args: readonly unknown[]): Promise<void> {
    const chosen = await this.#hunks(args);
    if (chosen) {
      await takeBack(this.host, chosen);
      this.states.later(chosen.cwd);
    }
  }

  /** Returns the files of a menu in the view of source control, or of the active editor. */
  #files(args: readonly unknown[]): Chosen | undefined {
    const resources = args.flat().filter(isResource);
    const first = resources[0];
    if (first) {
      return { cwd: first.cwd, files: resources.filter((r) => r.cwd === first.cwd).map((r) => r.file) };
    }
    const path = vscode.window.activeTextEditor?.document.uri.fsPath;
    for (const cwd of this.states.folders) {
      const file = this.states.of(cwd)?.files?.find((f) => f.path === path && f.pending > 0);
      if (file) {
        return { cwd, files: [file] };
      }
    }
    return undefined;
  }

  async #keepFiles(args: readonly unknown[]): Promise<void> {
    const chosen = this.#files(args);
    if (chosen) {
      await this.host.request('xcsh.keep', { cwd: chosen.cwd, paths: chosen.files.map((f) => f.path) });
      this.states.later(chosen.cwd);
    }
  }

  async #undoFiles(args: readonly unknown[]): Promise<void> {
    const chosen = this.#files(args);
    if (chosen) {
      await takeBack(this.host, { cwd: chosen.cwd, paths: chosen.files.map((f) => f.path) });
      this.states.later(chosen.cwd);
    }
  }

  async #keepAll(): Promise<void> {
    const chosen = await this.#pending();
    if (chosen) {
      await this.host.request('xcsh.keep', { cwd: chosen.cwd, all: true });
      this.states.later(chosen.cwd);
    }
  }

  /** Undoes all changes that were not reviewed, after a confirmation. */
  async #undoAll(): Promise<void> {
    const chosen = await this.#pending();
    if (!chosen) {
      return;
    }
    const yes = t('Undo All');
    const { length } = chosen.files;
    const question = length === 1 ? t('Undo the changes of 1 file?') : t('Undo the changes of {0} files?', length);
    const detail = t(
      'Only changes that you have not kept are undone. Your own changes stay. You can redo the changes.',
    );
    if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes) {
      await takeBack(this.host, { cwd: chosen.cwd, paths: chosen.files.map((f) => f.path) });
      this.states.later(chosen.cwd);
    }
  }

  async #redo(): Promise<void> {
    const cwd = this.#folder();
    if (cwd !== undefined) {
      await takeBack(this.host, { cwd, redo: '' });
      this.states.later(cwd);
    }
  }
}
