import type { EngineItem, EnginesResult } from '../wire.gen';
import { oneLine } from './items';

/** The name of the server's own engine. */
export const ownEngine = 'own';

/** The texts of the list, in the language of the window. */
export interface EngineWords {
  own: string;
  ownDetail: string;
  current: string;
  usable: string;
  unusable: string;
}

/** A row of the list of engines. A group is a line without an engine. */
export interface EngineRow {
  readonly group?: string;
  readonly engine: string;
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** Why the engine cannot be chosen, "" if it can. */
  readonly problem: string;
}

/** Returns the name and version of an engine. */
export function engineLabel({ name, version }: Pick<EngineItem, 'name' | 'version'>, own: string): string {
  return name === ownEngine ? own : oneLine([name, version].filter(Boolean).join(' '));
}

/** Returns the rows of the list: the engines that can be chosen, then the others with the reason. */
export function engineRows(result: EnginesResult, words: EngineWords, shorten: (path: string) => string): EngineRow[] {
  const engines = result.engines ?? [];
  const row = (e: EngineItem): EngineRow => {
    const now = e.name === result.current;
    const path = e.path ? shorten(e.path) : e.name === ownEngine ? words.ownDetail : '';
    const problem = e.usable ? '' : oneLine(e.problem ?? '');
    return {
      engine: e.name,
      label: (now ? '$(check) ' : e.usable ? '' : '$(circle-slash) ') + withoutIcons(engineLabel(e, words.own)),
      description: now ? words.current : '',
      detail: withoutIcons([problem, path].filter(Boolean).join(' · ')),
      problem,
    };
  };
  const group = (name: string, of: EngineItem[]): EngineRow[] =>
    of.length === 0
      ? []
      : [{ group: name, engine: '', label: name, description: '', detail: '', problem: '' }, ...of.map(row)];
  return [
    ...group(
      words.usable,
      engines.filter((e) => e.usable),
    ),
    ...group(
      words.unusable,
      engines.filter((e) => !e.usable),
    ),
  ];
}

/** VS Code replaces $(name) by an icon in labels; names of programs contain none. */
const withoutIcons = (text: string): string => text.replaceAll('$(', '$ (');
