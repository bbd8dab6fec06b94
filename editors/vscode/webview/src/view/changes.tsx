// The file changes of the session: the card at the end of a turn, and the bar above the composer.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import type { Changes, FileChange, Status, Totals } from '../state/changes';
import { turnEndingAt } from '../state/turns';
import type { Turn } from '../state/turns';
import { shownItems } from '../state/window';
import { Icon, IconButton } from './controls';
import { useChanges, useChat, useFold, usePage } from './use';

const statusLooks: Record<Status, () => [icon: string, words: string]> = {
  added: () => ['diff-added', t('added')],
  modified: () => ['diff-modified', t('modified')],
  deleted: () => ['diff-removed', t('deleted')],
  renamed: () => ['diff-renamed', t('renamed')],
  mode: () => ['key', t('permissions changed')],
  link: () => ['file-symlink-file', t('link changed')],
};

export const filesText = (n: number): string => (n === 1 ? t('1 file') : t('{0} files', n));

/** The numbers of added and removed lines, with a text for screen readers. */
export function Lines({ added, removed }: { added: number; removed: number }): JSX.Element | null {
  if (added + removed === 0) return null;
  return (
    <span class="lines">
      {added > 0 && (
        <span class="plus" aria-hidden="true">
          +{added}
        </span>
      )}
      {removed > 0 && (
        <span class="minus" aria-hidden="true">
          −{removed}
        </span>
      )}
      <span class="unseen">{t('{0} lines added, {1} removed', added, removed)}</span>
    </span>
  );
}

/** A file name followed by its folder, which is relative to the session's folder if possible. */
export function Path({ path }: { path: string }): JSX.Element {
  const cwd = useChat((s) => s.view.session?.cwd ?? '');
  const inside = cwd !== '' && path.startsWith(cwd + '/');
  const relative = inside ? path.slice(cwd.length + 1) : path;
  const at = Math.max(relative.lastIndexOf('/'), relative.lastIndexOf('\\'));
  return (
    <span class="path">
      <span class="name">{visible(relative.slice(at + 1))}</span>
      {at > 0 && <span class="folder">{visible(relative.slice(0, at))}</span>}
    </span>
  );
}

function Summary({ totals }: { totals: Totals }): JSX.Element {
  return (
    <>
      <span class="verb">{filesText(totals.files)}</span>
      <Lines {...totals} />
    </>
  );
}

/** The owner of a list: the session, or the records of a turn. */
interface Listed {
  since: string;
  turn?: readonly string[];
  review: boolean; // files can be kept and undone
}

function FileRow({ file, since, turn, review }: Listed & { file: FileChange }): JSX.Element {
  const { changes } = usePage();
  const running = useChat((s) => s.view.running);
  const [icon, words] = statusLooks[file.status]();
  const name = visible(file.path.slice(Math.max(file.path.lastIndexOf('/'), file.path.lastIndexOf('\\')) + 1));
  return (
    <li>
      <button
        type="button"
        class="changed"
        title={visible(file.from ? `${file.from} → ${file.path}` : file.path)}
        onClick={() => changes.openFile(file.path, since, turn)}
      >
        <span class={`status-icon ${file.status}`}>
          <Icon name={icon} />
          <span class="unseen">{words}</span>
        </span>
        <Path path={file.path} />
        {file.counted ? <Lines added={file.added} removed={file.removed} /> : null}
      </button>
      {review && (
        <span class="row-tools">
          <IconButton
            icon="check"
            label={t('Keep {0}', name)}
            onClick={() => void changes.keep({ paths: [file.path] })}
          />
          <IconButton
            icon="discard"
            label={t('Undo {0}', name)}
            disabled={running}
            onClick={() => void changes.undoFile(file.path)}
          />
        </span>
      )}
    </li>
  );
}

/** Rows that are rendered at first. */
const firstFiles = 100;

function FileList({ files, since, turn, review }: Listed & { files: readonly FileChange[] }): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? files : files.slice(0, firstFiles);
  return (
    <ul class="changed-files" aria-label={t('Changed files')}>
      {shown.map((file) => (
        <FileRow key={file.path} file={file} since={since} turn={turn} review={review} />
      ))}
      {shown.length < files.length && (
        <li>
          <button type="button" class="link" onClick={() => setAll(true)}>
            {t('Show {0} more files', files.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  );
}

function Limits({ changes }: { changes: Changes }): JSX.Element | null {
  if (changes.limits.length === 0) return null;
  return (
    <>
      {changes.limits.map((text) => (
        <p key={text} class="limit">
          <Icon name="info" />
          <span>{visible(text)}</span>
        </p>
      ))}
    </>
  );
}

/** Calls f at once, or when an element comes into view; calls the function that f returned when it leaves the view. */
function useInView(f: () => () => void, key: string, atOnce: boolean) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (atOnce) return f();
    let end: (() => void) | undefined;
    const watch = new IntersectionObserver(
      (entries) => {
        const inView = entries.at(-1)?.isIntersecting === true;
        if (inView && !end) end = f();
        else if (!inView) end = void end?.();
      },
      { root: box.current?.closest('.scroll') ?? null, rootMargin: '300px' },
    );
    if (box.current) watch.observe(box.current);
    return () => {
      watch.disconnect();
      end?.();
    };
  }, [key]);
  return box;
}

/** The card of the turn that ends with an item, if there is one. */
export function TurnEnd({ itemKey }: { itemKey: string }): JSX.Element | null {
  const promptId = useChat((s) => turnAt(s.view, itemKey)?.promptId ?? '');
  const next = useChat((s) => turnAt(s.view, itemKey)?.next ?? '');
  const isLast = useChat((s) => shownItems(s.view).at(-1)?.key === itemKey);
  // The next turn begins a moment before its prompt appears. The card must not flicker.
  const ended = useRef('');
  if (promptId !== '') ended.current = promptId;
  else if (!isLast) ended.current = '';
  return ended.current === '' ? null : <TurnCard promptId={ended.current} next={next} />;
}

type View = Parameters<typeof shownItems>[0];

const turnAt = (view: View, key: string): Turn | null =>
  turnEndingAt(shownItems(view), key, !view.running && view.away === null);

function TurnCard({ promptId, next }: Turn): JSX.Element {
  const { changes: model } = usePage();
  const turn = useChanges((c) => c.turns.get(promptId));
  const [open, setOpen] = useFold(`${promptId}/changes`, false);
  const busy = useChat((s) => s.view.running || !s.sync.live);
  const trusted = useMayUndo();
  const box = useInView(() => model.want({ promptId, next }), `${promptId} ${next}`, next === '');
  const files = turn?.changes.files ?? [];
  return (
    <div class="turn-end" ref={box}>
      {turn && files.length > 0 && (
        <div class="turn-card" role="group" aria-label={t('Changed files of this turn')}>
          <header>
            <button type="button" class="fold-head" aria-expanded={open} onClick={() => setOpen(!open)}>
              <Icon name="diff-multiple" />
              <Summary totals={turn.changes.totals} />
              <Icon name={open ? 'chevron-down' : 'chevron-right'} />
            </button>
            <span class="card-tools">
              <button type="button" class="link" onClick={(e) => e.detail <= 1 && model.review(promptId, turn.records)}>
                {t('Review')}
              </button>
              {trusted && (
                <button
                  type="button"
                  class="link"
                  disabled={busy}
                  onClick={(e) => e.detail <= 1 && model.undoTurn(turn.records)}
                >
                  {t('Undo turn')}
                </button>
              )}
            </span>
          </header>
          {open && (
            <div class="card-body">
              <FileList files={files} since={promptId} turn={turn.records} review={false} />
              <Limits changes={turn.changes} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Reports whether the user can undo changes here. */
function useMayUndo(): boolean {
  const page = usePage();
  return page.ui.init?.trusted === true && page.ui.init.commands.includes('xcsh.rewind');
}

/** The changes to review, above the composer. */
export function ChangesBar(): JSX.Element | null {
  const { changes: model } = usePage();
  const session = useChanges((c) => c.session);
  const [open, setOpen] = useFold('changes', false);
  const running = useChat((s) => s.view.running || !s.sync.live);
  const trusted = useMayUndo();
  const { files, totals, interrupted } = session;
  if (files.length === 0 && !interrupted) return null;
  return (
    <section class="changes-bar" aria-label={t('Changes to review')}>
      {interrupted && (
        <p class="limit" role="status">
          <Icon name="warning" />
          <span>{t('A rewind was interrupted. It will be completed before the next change of this session.')}</span>
        </p>
      )}
      {files.length > 0 && (
        <header>
          <button type="button" class="fold-head" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />
            <Summary totals={{ ...totals, files: files.length }} />
            <span class="unseen">{t('to review')}</span>
          </button>
          <span class="card-tools">
            <IconButton icon="diff-multiple" label={t('Review all changes')} onClick={() => model.review('session')} />
            {trusted && (
              <>
                <button type="button" class="link" onClick={(e) => e.detail <= 1 && void model.keep({ all: true })}>
                  {t('Keep all')}
                </button>
                <button type="button" class="link" disabled={running} onClick={(e) => e.detail <= 1 && model.undoAll()}>
                  {t('Undo all')}
                </button>
              </>
            )}
          </span>
        </header>
      )}
      {open && files.length > 0 && (
        <div class="card-body">
          <FileList files={files} since="session" review={trusted} />
          <Limits changes={session} />
        </div>
      )}
    </section>
  );
}
