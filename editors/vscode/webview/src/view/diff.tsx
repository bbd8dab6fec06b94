// The rows of a diff. Signs mark added and removed lines, in addition to colors.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo, useState } from 'preact/hooks';
import { rowsOfPatch } from '../diff/rows';
import type { Row } from '../diff/rows';
import { t } from '../l10n';
import { languageOf } from '../markdown/highlight';
import { highlighted } from './nodes';
import { visible } from '../../../src/chat/visible';

const signs = { same: ' ', added: '+', removed: '−' } as const;

/** Returns the text of a sign for screen readers. */
function signName(kind: keyof typeof signs): string {
  if (kind === 'same') return '';
  return (kind === 'added' ? t('added:') : t('removed:')) + ' ';
}

/** The number of rows that are rendered at first. */
const firstRows = 400;

function Line({ row, language, numbers }: { row: Row; language: string; numbers: boolean }): JSX.Element {
  if (row.kind === 'gap') {
    return (
      <tr class="gap">
        <td colSpan={numbers ? 4 : 2}>⋯ {row.text}</td>
      </tr>
    );
  }
  const text = visible(row.text.replace(/\r$/, ''));
  return (
    <tr class={row.kind}>
      {numbers && <td class="number">{row.before ?? ''}</td>}
      {numbers && <td class="number">{row.after ?? ''}</td>}
      <td class="sign">
        <span aria-hidden="true">{signs[row.kind]}</span>
        <span class="unseen">{signName(row.kind)}</span>
      </td>
      <td class="text">{highlighted(text, language)}</td>
    </tr>
  );
}

/** Line numbers are omitted where only a part of the file is known. */
export const DiffView = memo(function DiffView({
  patch,
  path,
  numbers = true,
}: {
  patch: string;
  path: string;
  numbers?: boolean;
}): JSX.Element {
  const { rows } = useMemo(() => rowsOfPatch(patch), [patch]);
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, firstRows);
  const language = languageOf(path);
  const more = rows.length - shown.length;
  return (
    <div class="diff" role="group" aria-label={path ? t('Changes in {0}', path) : t('Changes')} tabIndex={0}>
      <table role="presentation">
        <tbody>
          {shown.map((row, i) => (
            <Line key={i} row={row} language={language} numbers={numbers} />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          {more === 1 ? t('Show 1 more line') : t('Show {0} more lines', more)}
        </button>
      )}
    </div>
  );
});

export function Counts({ added, removed }: { added: number; removed: number }): JSX.Element {
  return (
    <span class="counts">
      <span class="added" aria-label={t('{0} added', added)}>
        +{added}
      </span>
      <span class="removed" aria-label={t('{0} removed', removed)}>
        −{removed}
      </span>
    </span>
  );
}
