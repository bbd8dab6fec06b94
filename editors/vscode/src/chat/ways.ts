// The ways to get an answer when no model is ready: the engines, local models, and services that the server
// knows. The panel and the list of the palette show the same ways.

import { visible } from './visible';

/** One way. Names and numbers come from the server, and are bounded and made visible. */
export type Way =
  | { readonly kind: 'engine'; readonly engine: string; readonly version: string }
  | {
      readonly kind: 'local';
      readonly provider: string;
      readonly name: string;
      readonly models: number;
      readonly model: string;
    }
  | {
      readonly kind: 'ready';
      readonly provider: string;
      readonly name: string;
      readonly models: number;
      readonly model: string;
    }
  | { readonly kind: 'key'; readonly provider: string; readonly name: string }
  | { readonly kind: 'demo'; readonly model: string };

/** The services that are offered by name; a list has the others. */
const maxServices = 4;
const maxRows = 8; // of a kind
const maxName = 60; // characters

/** Why no model is ready. */
export const reasons = ['noModel', 'noKey', 'unknownModel'] as const;
export type Reason = (typeof reasons)[number];

/** Returns why a prompt was refused for want of a model; undefined if it was refused for another reason. */
export function reasonOf(error: { readonly kind: string; readonly data?: unknown }): Reason | undefined {
  const { reason } = object(error.data);
  return error.kind === 'provider' ? reasons.find((r) => r === reason) : undefined;
}

/**
 * Returns the ways, best first: engines, local models, services that can be used, services that need a key, and
 * the demo. wanted is the provider whose key is missing, "" if none; entering its key is the first way.
 */
export function waysOf(providers: unknown, engines: unknown, wanted = ''): Way[] {
  const known = list(object(providers)['providers']).map(object);
  const of = (kind: string) => known.filter((p) => p['kind'] === kind && id(p) !== '');
  const services = of('service');
  const keyless = services.filter((p) => p['ready'] !== true);
  const first = keyless.filter((p) => id(p) === wanted).slice(0, 1);
  const others = keyless.filter((p) => id(p) !== wanted);
  const modelOf = (p: Fields) => ({
    provider: id(p),
    name: nameOf(p),
    models: count(p['models']),
    model: text(p['default'], 500),
  });
  const withKey = (p: Fields): Way => ({ kind: 'key', provider: id(p), name: nameOf(p) });
  return [
    ...first.map(withKey),
    ...list(object(engines)['engines'])
      .map(object)
      .filter((e) => e['usable'] === true && e['name'] !== 'own' && text(e['name'], maxName) !== '')
      .slice(0, maxRows)
      .map((e): Way => ({ kind: 'engine', engine: text(e['name'], maxName), version: text(e['version'], maxName) })),
    ...of('local')
      .filter((p) => p['ready'] === true && count(p['models']) > 0)
      .slice(0, maxRows)
      .map((p): Way => ({ kind: 'local', ...modelOf(p) })),
    ...services
      .filter((p) => p['ready'] === true)
      .slice(0, maxRows)
      .map((p): Way => ({ kind: 'ready', ...modelOf(p) })),
    ...others.slice(0, maxServices - first.length).map(withKey),
    ...of('demo')
      .slice(0, 1)
      .map((p): Way => ({ kind: 'demo', model: text(p['default'], 500) || 'offline/demo' })),
  ];
}

/** How a way is shown: the name of a codicon, its name, and a few words about it. */
export interface WayLooks {
  readonly icon: string;
  readonly label: string;
  readonly about: string;
}

/** Returns how a way is shown. t translates. */
export function looksOf(way: Way, t: (text: string, ...args: (string | number)[]) => string): WayLooks {
  switch (way.kind) {
    case 'engine': {
      const label = visible([way.engine, way.version].join(' ').trim());
      return { icon: 'server-environment', label, about: t('Your installed agent') };
    }
    case 'local':
    case 'ready': {
      const local = way.kind === 'local';
      const model = visible(way.model.slice(way.provider.length + 1));
      const one = local ? t('{0}, on this machine', way.name) : t('{0}, with your key', way.name);
      const many = local ? t('{0} models on this machine', way.models) : t('{0} models, with your key', way.models);
      return { icon: local ? 'vm' : 'cloud', label: model || way.name, about: model ? one : many };
    }
    case 'key':
      return { icon: 'key', label: way.name, about: t('Enter API key…') };
    case 'demo':
      return { icon: 'play', label: t('Offline demo'), about: t('A script, not a model') };
  }
}

type Fields = Readonly<Record<string, unknown>>;

const object = (v: unknown): Fields => (typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Fields) : {});
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const count = (v: unknown): number => (typeof v === 'number' && Number.isSafeInteger(v) && v > 0 ? v : 0);
const text = (v: unknown, most: number): string => (typeof v === 'string' && v.length <= most ? v : '');
const id = (p: Fields): string => text(p['id'], maxName);
const nameOf = (p: Fields): string =>
  visible(typeof p['name'] === 'string' && p['name'] ? p['name'] : id(p)).slice(0, maxName);
