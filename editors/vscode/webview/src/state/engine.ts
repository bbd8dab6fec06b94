// The engine of the session: the program that answers. Its questions and texts come from extensions that
// this project does not know, so everything is bounded.

import { list, num, obj, str, texts } from './wire';
import type { Obj } from './wire';
import type { View } from './model';

/** The name of the server's own engine. */
export const own = 'own';

/** What an engine can do, as far as the page offers it. */
const abilities = ['steer', 'branch', 'compact', 'images', 'models'] as const;
export type Ability = (typeof abilities)[number];
export type Can = Readonly<Record<Ability, boolean>>;

const engineStates = ['known', 'starting', 'ready', 'running', 'failed'] as const;
export type EngineState = (typeof engineStates)[number];

export interface Engine {
  name: string;
  version: string; // "" if unknown
  state: EngineState;
  message: string; // about the state; "" if there is none
  can: Can | null; // null while it is unknown
}

/** A way to continue, as a button. */
export interface Action {
  title: string;
  command: string;
  args: Obj;
}

/** The failure of an engine. */
export interface Crash {
  key: string;
  engine: string;
  message: string;
  details: string; // the last lines of its error output; "" if unknown
  actions: readonly Action[];
}

export const methods = ['select', 'confirm', 'input', 'editor'] as const;
export type Method = (typeof methods)[number];

/** Who asks: an extension of the engine, the model, or a server that a tool uses. */
export type Asker = 'extension' | 'model' | 'server';

/** A question to the user. */
export interface Question {
  id: string;
  method: Method;
  from: Asker;
  title: string;
  message: string;
  options: readonly string[];
  descriptions: readonly string[]; // of the options; may be shorter
  recommended: number; // index of an option; -1 if there is none
  multi: boolean; // several options can be chosen
  other: boolean; // an own answer can be written
  optional: boolean;
  number: number; // of several questions in a row; 0 for a single one
  of: number;
  placeholder: string;
  prefill: string;
  until: number; // in the server's clock, milliseconds since 1970; 0 is without end
}

/** A text that an extension shows below the conversation. */
export interface EngineText {
  key: string;
  lines: readonly string[];
}

/** Texts for the composer, once for each key. */
export interface Returned {
  key: string;
  texts: readonly string[];
}

const maxQuestions = 100;
const maxOptions = 500;
const maxTexts = 8;
const maxLines = 12;
const maxLine = 300; // characters
const maxDetails = 16 << 10; // characters
const maxPrefill = 100_000; // characters

export const ownEngine: Engine = { name: own, version: '', state: 'ready', message: '', can: null };

const stateOf = (v: unknown): EngineState => engineStates.find((s) => s === v) ?? 'known';

/** Reads what an engine can do. It is known only once the engine is ready. */
function canOf(v: unknown, state: EngineState): Can | null {
  if (state !== 'ready' && state !== 'running') return null;
  const can = obj(v);
  if (Object.keys(can).length === 0) return null;
  return Object.fromEntries(abilities.map((a) => [a, can[a] === true])) as Can;
}

/** Reads the engine of a session's state; own if there is none, as with older servers. */
export function engineOf(v: unknown): Engine {
  const { name, version, state, message, can } = obj(v);
  if (str(name) === '' || name === own) return ownEngine;
  return {
    name: str(name),
    version: str(version),
    state: stateOf(state),
    message: str(message),
    can: canOf(can, stateOf(state)),
  };
}

export function questionOf(v: unknown): Question | null {
  const q = obj(v);
  const method = methods.find((m) => m === q.method);
  if (str(q.id) === '' || !method) return null;
  return {
    id: str(q.id),
    method,
    title: str(q.title),
    message: str(q.message),
    from: q.from === 'model' || q.from === 'server' ? q.from : 'extension',
    options: texts(q.options).slice(0, maxOptions),
    descriptions: texts(q.descriptions).slice(0, maxOptions),
    recommended: typeof q.recommended === 'number' ? q.recommended : -1,
    multi: q.multi === true,
    other: q.other === true,
    optional: q.optional === true,
    number: Math.max(0, num(q.number)),
    of: Math.max(0, num(q.of)),
    placeholder: str(q.placeholder),
    prefill: str(q.prefill),
    until: Math.max(0, num(q.until)),
  };
}

export function questionsOf(v: unknown): Question[] {
  return list(v)
    .map(questionOf)
    .filter((q) => q !== null)
    .slice(0, maxQuestions);
}

/** Reads the ways to continue after a failure. */
export function actionsOf(v: unknown): Action[] {
  return list(v)
    .map(obj)
    .map((a) => ({ title: str(a.title), command: str(a.command), args: obj(a.arguments) }))
    .filter((a) => a.title !== '' && a.command !== '');
}

/** Returns the failure of the engine in a snapshot, which has less of it than the event. */
export function crashOf(engine: Engine, was: Crash | null, key: string): Crash | null {
  if (engine.state !== 'failed') return null;
  if (was && was.engine === engine.name && was.message === engine.message) return was;
  return { key, engine: engine.name, message: engine.message, details: '', actions: [] };
}

/** Returns the view after the state of the engine changed. */
export function engineChanged(v: View, e: Obj): View {
  const state = stateOf(e.state);
  const same = v.engine.name === str(e.engine);
  const started = state === 'ready' || state === 'running';
  const now = engineOf({ name: e.engine, version: e.version, state: e.state, message: e.message });
  // The event does not have what the engine can do: the page reads it afterwards.
  const engine = { ...now, can: same && started ? v.engine.can : null };
  // A notice about the engine is over when it starts, or when another one is chosen.
  const notices = started || !same ? v.notices.filter((n) => n.cause !== 'engine') : v.notices;
  const next = { ...v, engine, notices, crash: null, ...(same && started ? {} : { engineTexts: [] }) };
  if (state !== 'failed') return next;
  const counter = v.counter + 1;
  const crash: Crash = {
    key: 'x' + counter,
    engine: engine.name,
    message: engine.message,
    details: str(e.details).slice(-maxDetails),
    actions: actionsOf(e.actions),
  };
  return { ...next, counter, crash, notices: notices.filter((n) => n.text !== engine.message) };
}

/**
 * Returns the view with what the engine can do and the model that it asks, as read from the server. A program chooses its
 * model when it starts, and no event says which.
 */
export function withAbilities(v: View, state: unknown): View {
  const { engine, model, thinkingLevel } = obj(state);
  const read = engineOf(engine);
  if (read.name !== v.engine.name || read.can === null || v.engine.state === 'failed') return v;
  const { provider, id } = obj(model);
  const session = v.session && {
    ...v.session,
    ...(str(id) === '' ? {} : { model: { provider: str(provider), id: str(id) } }),
    ...(str(thinkingLevel) === '' ? {} : { thinkingLevel: str(thinkingLevel) }),
  };
  return { ...v, session, engine: { ...v.engine, can: read.can, version: read.version || v.engine.version } };
}

export function questionAsked(v: View, e: Obj): View {
  const q = questionOf(e);
  if (!q || v.questions.length >= maxQuestions || v.questions.some((o) => o.id === q.id)) return v;
  return { ...v, questions: [...v.questions, q] };
}

export function withoutQuestion(v: View, id: string): View {
  return v.questions.some((q) => q.id === id) ? { ...v, questions: v.questions.filter((q) => q.id !== id) } : v;
}

/** Reads the texts that the extension kept for a new page; undefined if it kept none. */
export function engineTextsOf(v: unknown): readonly EngineText[] | undefined {
  if (!Array.isArray(v)) return undefined;
  return v.reduce<readonly EngineText[]>((shown, e) => withText(shown, obj(e)), []);
}

export function engineText(v: View, e: Obj): View {
  const engineTexts = withText(v.engineTexts, e);
  return engineTexts === v.engineTexts ? v : { ...v, engineTexts };
}

/** Returns the texts with one of an extension shown, replaced, or removed. */
function withText(shown: readonly EngineText[], e: Obj): readonly EngineText[] {
  const key = str(e.key);
  const lines = texts(e.lines)
    .slice(0, maxLines)
    .map((line) => line.slice(0, maxLine));
  const at = shown.findIndex((s) => s.key === key);
  if (lines.length === 0) return at < 0 ? shown : shown.filter((_, i) => i !== at);
  if (at >= 0) return shown.with(at, { key, lines });
  return shown.length >= maxTexts ? shown : [...shown, { key, lines }];
}

/** Returns the view with a proposed prompt. */
export function prefilled(v: View, e: Obj): View {
  const text = str(e.text).slice(0, maxPrefill);
  if (text === '') return v;
  const counter = v.counter + 1;
  return { ...v, counter, prefill: { key: 'p' + counter, texts: [text] } };
}

/** Returns the view with the messages that a failed run did not answer. */
export function withUnanswered(v: View, e: Obj): View {
  const unanswered = texts(e.unanswered);
  if (e.stopReason !== 'error' || unanswered.length === 0) return v;
  const counter = v.counter + 1;
  return { ...v, counter, unanswered: { key: 'u' + counter, texts: unanswered } };
}
