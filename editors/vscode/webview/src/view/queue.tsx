// The messages that wait for the running turn. Each can be changed in its place, or removed.

import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { engineName } from '../engine';
import { t } from '../l10n';
import { own } from '../state/engine';
import { fileIcon, fileLabel, userMessageOf } from '../state/userMessage';
import { Icon, IconButton } from './controls';
import { useChat, usePage } from './use';

type QueueName = 'steer' | 'followUp';

/** A queued message: its place, and its text as the server lists it. */
interface Queued {
  queue: QueueName;
  index: number;
  text: string;
}

/** The message that the user is changing. */
interface Editing extends Queued {
  words: string;
}

/** Returns the message that is being changed as it is queued now; undefined if it was sent. */
function stillQueued({ queue, index, text }: Queued, rows: readonly Queued[]): Queued | undefined {
  const same = rows.filter((row) => row.queue === queue && row.text === text && row.index <= index);
  return same.at(-1); // messages only move to the front
}

/** Returns a key that stays with the message when earlier ones are sent or removed. */
const keyOf = ({ queue, text }: Queued, before: readonly Queued[]) =>
  `${queue} ${before.filter((row) => row.queue === queue && row.text === text).length} ${text}`;

/** The field in which a message is changed. Enter saves, Escape cancels. */
function Field({
  editing,
  change,
  save,
  cancel,
}: {
  editing: Editing;
  change: (words: string) => void;
  save: () => void;
  cancel: () => void;
}): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(editing.words.length, editing.words.length);
  }, []);
  useLayoutEffect(() => {
    const el = area.current;
    if (!el) return;
    el.style.height = '0';
    el.style.height = `${Math.min(el.scrollHeight, 120)}px`;
  }, [editing.words]);
  const onKey = (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (e.isComposing || (e.key !== 'Escape' && (e.key !== 'Enter' || e.shiftKey))) return;
    e.preventDefault();
    e.stopPropagation();
    if (e.key === 'Escape') cancel();
    else save();
  };
  return (
    <>
      <textarea
        ref={area}
        rows={1}
        value={editing.words}
        aria-label={t('Queued message')}
        onInput={(e) => change(e.currentTarget.value)}
        onKeyDown={onKey}
      />
      <IconButton icon="check" label={t('Save (Enter)')} onClick={save} />
      <IconButton icon="close" label={t('Cancel (Escape)')} onClick={cancel} />
    </>
  );
}

/** A message with its buttons. */
function Row({ row, edit, refusal }: { row: Queued; edit: () => void; refusal: string }): JSX.Element {
  const page = usePage();
  const { files, text } = userMessageOf(row.text);
  const label = visible(text) || t('Message without text');
  return (
    <>
      <span class="gist">{label}</span>
      {files.map((file, i) => (
        <span key={i} class="queued-file" title={file.path}>
          <Icon name={fileIcon(file)} />
          {fileLabel(file)}
        </span>
      ))}
      <IconButton icon="edit" label={t('Edit queued message')} refusal={refusal} onClick={edit} />
      <IconButton
        icon="close"
        label={t('Remove queued message')}
        refusal={refusal}
        onClick={() => void page.prompts.editQueued(row.queue, row.index, row.text, '')}
      />
    </>
  );
}

export function Queue(): JSX.Element | null {
  const page = usePage();
  const { steering, followUp } = useChat((s) => s.view.queues);
  const running = useChat((s) => s.view.running);
  const hosted = useChat((s) => (s.view.engine.name === own ? '' : engineName(s.view.engine)));
  const refusal = hosted && t("Messages queued in {0} can't be changed. Stop to get them back.", hosted);
  const [editing, setEditing] = useState<Editing | null>(null);
  const rows: Queued[] = [
    ...steering.map((text, index): Queued => ({ queue: 'steer', index, text })),
    ...followUp.map((text, index): Queued => ({ queue: 'followUp', index, text })),
  ];
  const now = editing && stillQueued(editing, rows);

  // It was sent, or the turn was stopped and the message is in the composer.
  useEffect(() => {
    if (!editing || now) return;
    setEditing(null);
    if (editing.words !== userMessageOf(editing.text).text) page.prompts.tooLate(editing.words);
    page.backToComposer();
  }, [editing, now, page, running]);

  if (rows.length === 0) return null;
  const close = () => {
    setEditing(null);
    page.backToComposer();
  };
  const save = () => {
    if (!editing || !now) return;
    close();
    if (editing.words.trim() !== userMessageOf(editing.text).text.trim())
      void page.prompts.editQueued(now.queue, now.index, now.text, editing.words.trim());
  };
  return (
    <ul class="queue" aria-label={t('Queued messages')}>
      {rows.map((row, i) => (
        <li key={keyOf(row, rows.slice(0, i))}>
          <Icon name={row.queue === 'steer' ? 'debug-step-into' : 'debug-step-over'} />
          <span class="verb">{row.queue === 'steer' ? t('Sending next') : t('Queued')}</span>
          {editing && now && now.queue === row.queue && now.index === row.index ? (
            <Field
              editing={editing}
              change={(words) => setEditing({ ...editing, ...now, words })}
              save={save}
              cancel={close}
            />
          ) : (
            <Row row={row} refusal={refusal} edit={() => setEditing({ ...row, words: userMessageOf(row.text).text })} />
          )}
        </li>
      ))}
    </ul>
  );
}
