// What the page says about the engine.

import { visible } from '../../src/chat/visible';
import { t } from './l10n';
import { own } from './state/engine';
import type { Ability, Engine } from './state/engine';
import type { View } from './state/model';

const maxName = 40; // characters
const maxVersion = 20; // characters

/** Returns the name of the program that answers. */
export function engineName({ name }: Engine): string {
  return name === own ? 'xcsh' : visible(name).slice(0, maxName);
}

/** Reports whether a prompt can be answered, as far as it is known. Another engine has a model of its own. */
export function canAnswer({ engine, ready }: Pick<View, 'engine' | 'ready'>): boolean {
  return engine.name !== own || ready.ok;
}

/** Returns the name and version of the program that answers. */
export function engineLabel(engine: Engine): string {
  return [engineName(engine), visible(engine.version).slice(0, maxVersion)].filter(Boolean).join(' ');
}

/** Returns why the engine cannot do something, "" if it can, or if that is unknown. */
export function refusalOf(engine: Engine, ability: Ability): string {
  if (engine.can === null || engine.can[ability]) return '';
  const name = engineName(engine);
  switch (ability) {
    case 'steer':
      return t('{0} cannot be steered. Wait, or stop it first.', name);
    case 'branch':
      return t('{0} cannot go back. Fork the session instead.', name);
    case 'compact':
      return t('{0} does not compact a conversation on request.', name);
    case 'images':
      return t('{0} takes no images.', name);
    case 'models':
      return t('{0} chooses its model itself.', name);
  }
}
