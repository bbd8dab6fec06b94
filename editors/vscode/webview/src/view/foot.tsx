// The texts that extensions of the engine show below the composer.

import type { JSX } from 'preact';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import { sequences } from './output';
import { useChat } from './use';

export function EngineTexts(): JSX.Element | null {
  const shown = useChat((s) => s.view.engineTexts);
  if (shown.length === 0) return null;
  return (
    <ul class="engine-texts" aria-label={t('Status of extensions')} tabIndex={0}>
      {shown.map(({ key, lines }) => (
        <li key={key}>
          {lines.map((line, i) => (
            <span key={i} dir="auto">
              {visible(line.replace(sequences, ''))}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}
