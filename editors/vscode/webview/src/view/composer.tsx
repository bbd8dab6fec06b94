// The composer: the prompt, its attachments, and its buttons.

import type { JSX, TargetedClipboardEvent, TargetedDragEvent, TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { engineName } from '../engine';
import { t } from '../l10n';
import { recall, step } from '../state/history';
import type { Recall } from '../state/history';
import { complete, mentionAt } from '../state/mention';
import { userMessageOf } from '../state/userMessage';
import { imageTypes } from '../markdown/image';
import { attachmentKey, attachmentLabel } from '../page';
import { Choices } from './choices';
import { Icon, IconButton } from './controls';
import { useCommands } from './commands';
import { Suggestions, useFiles } from './suggestions';
import { useChat, usePage, useRefusal, useUi } from './use';

/** Reads images that were pasted or dropped. */
function takePictures(files: readonly File[], add: (mimeType: string, data: string) => void): boolean {
  const pictures = files.filter((f) => imageTypes.includes(f.type));
  for (const file of pictures) {
    const reader = new FileReader();
    reader.onload = () => add(file.type, String(reader.result).split(',')[1] ?? '');
    reader.readAsDataURL(file);
  }
  return pictures.length > 0;
}

function Chips(): JSX.Element | null {
  const page = usePage();
  const attachments = useUi((u) => u.kept.attachments);
  const pictures = useUi((u) => u.pictures);
  const file = useUi((u) => u.editorFile);
  const offered = file && !attachments.some((a) => attachmentKey(a) === attachmentKey(file)) ? file : null;
  if (!offered && attachments.length + pictures.length === 0) return null;
  return (
    <ul class="chips" aria-label={t('Attachments')}>
      {attachments.map((a) => (
        <li key={attachmentKey(a)} class="chip" title={a.uri}>
          <Icon name={a.range ? 'list-selection' : 'file'} />
          <span>{attachmentLabel(a)}</span>
          <IconButton icon="close" label={t('Remove {0}', attachmentLabel(a))} onClick={() => page.detach(a)} />
        </li>
      ))}
      {pictures.map((p, i) => (
        <li key={p.key} class="chip picture">
          <img src={`data:${p.mimeType};base64,${p.data}`} alt={t('Image {0}', i + 1)} />
          <IconButton icon="close" label={t('Remove image {0}', i + 1)} onClick={() => page.removePicture(p.key)} />
        </li>
      ))}
      {offered && (
        <li>
          <button
            type="button"
            class="chip offered"
            title={t('Attach {0}', attachmentLabel(offered))}
            onClick={() => page.attach([offered])}
          >
            <Icon name="add" />
            <span>{attachmentLabel(offered)}</span>
          </button>
        </li>
      )}
    </ul>
  );
}

const tallest = 240; // pixels

/** Adjusts the height of the text field to its text. */
function useTall(text: string): { current: HTMLTextAreaElement | null } {
  const ref = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    el.style.height = '0';
    el.style.height = Math.min(el.scrollHeight, tallest) + 'px';
    el.style.overflowY = el.scrollHeight > tallest ? 'auto' : 'hidden';
  }, [text]);
  return ref;
}

/** Recalls earlier prompts with the arrow keys, at the edges of the text. */
function useRecall(): { key: (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => boolean; reset: () => void } {
  const page = usePage();
  const at = useRef<Recall | null>(null);
  const key = (e: TargetedKeyboardEvent<HTMLTextAreaElement>): boolean => {
    const el = e.currentTarget;
    const by = e.key === 'ArrowUp' ? -1 : e.key === 'ArrowDown' ? 1 : 0;
    if (by === 0 || e.altKey || e.shiftKey || e.ctrlKey || e.metaKey || el.selectionStart !== el.selectionEnd)
      return false;
    const beyond = by < 0 ? el.value.slice(0, el.selectionStart) : el.value.slice(el.selectionEnd);
    if (beyond.includes('\n') || (by > 0 && !at.current)) return false;
    const said = page.store.state.view.items
      .filter((i) => i.message.role === 'user')
      .map((i) => userMessageOf(i.message.content).text);
    at.current ??= recall([...page.ui.recalled, ...said], el.value);
    const next = step(at.current, by);
    if (!next) return by < 0 && el.selectionStart > 0 ? false : true;
    at.current = next.recall;
    page.keep({ text: next.text });
    requestAnimationFrame(() => el.setSelectionRange(el.value.length, el.value.length));
    return true;
  };
  return {
    key,
    reset: () => {
      at.current = null;
    },
  };
}

function placeholder(running: boolean, editing: boolean, queues: boolean): string {
  if (editing) return t('Edit your message');
  if (running && queues) return t('Queue a message…');
  return running ? t('Add to the running task…') : t('Ask anything, @ to add a file');
}

/** Sends, queues, or stops. An engine that cannot be steered only queues. */
function SendButtons({ some }: { some: boolean }): JSX.Element {
  const page = usePage();
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const running = useChat((s) => s.view.running || s.view.compacting);
  const ready = useChat((s) => s.sync.live);
  const unsteered = useRefusal('steer');
  const sends = running ? t('Send to the running task (Enter)') : t('Send (Enter)');
  const queues = unsteered ? t('Queue message (Enter)') : t('Queue message (Alt+Enter)');
  return (
    <span class="send">
      {running && some && (
        <IconButton icon="debug-step-over" label={queues} onClick={() => void page.say('followUp')} />
      )}
      {running && (
        <IconButton icon="debug-stop" label={t('Stop (Escape)')} class="stop" onClick={() => void page.stop()} />
      )}
      {running && some && unsteered && (
        <IconButton
          icon="debug-step-into"
          label={t('Send to the running task')}
          refusal={unsteered}
          onClick={() => undefined}
        />
      )}
      {(!running || (some && !unsteered)) && (
        <button
          type="submit"
          class="icon-button go"
          disabled={!ready || !some || !trusted}
          aria-label={sends}
          title={sends}
        >
          <Icon name={running ? 'debug-step-into' : 'arrow-up'} />
        </button>
      )}
    </span>
  );
}

export function Composer(): JSX.Element {
  const page = usePage();
  const text = useUi((u) => u.kept.text);
  const editing = useUi((u) => u.kept.editing !== '');
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const running = useChat((s) => s.view.running || s.view.compacting);
  const some = useUi((u) => u.kept.text.trim() !== '' || u.pictures.length + u.kept.attachments.length > 0);
  const focus = useUi((u) => u.focus);
  const area = useTall(text);
  const recalling = useRecall();
  const [cursor, setCursor] = useState(0);
  const mention = mentionAt(text, cursor);
  const program = useChat((s) => engineName(s.view.engine));
  const unsteered = useRefusal('steer');
  const [dragging, setDragging] = useState(false);

  // In the same frame as the text, not after it is painted, because the user continues typing
  // immediately.
  useLayoutEffect(() => area.current?.focus(), [focus, area]);

  const write = (next: { text: string; cursor: number }) => {
    page.keep({ text: next.text });
    setCursor(next.cursor);
    requestAnimationFrame(() => area.current?.setSelectionRange(next.cursor, next.cursor));
  };
  const files = useFiles(mention?.query, (a) => {
    if (!mention) return;
    write(complete(text, cursor, mention, a.name));
    page.mention(a);
  });
  const commands = useCommands(text, cursor, write);
  const suggestions = commands.open ? commands : files;

  const onKey = (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (e.isComposing) return;
    if (suggestions.key(e)) return e.preventDefault();
    if (e.key === 'Enter' && !e.shiftKey) {
      e.preventDefault();
      recalling.reset();
      return void page.say(e.altKey ? 'followUp' : 'steer');
    }
    if (e.key === 'Escape' && editing) return page.cancelEdit();
    if (e.key === 'Escape' && running) return void page.stop();
    if (recalling.key(e)) e.preventDefault();
  };

  const onInput = (e: TargetedEvent<HTMLTextAreaElement>) => {
    recalling.reset();
    setCursor(e.currentTarget.selectionStart);
    page.type(e.currentTarget.value);
  };

  const onPaste = (e: TargetedClipboardEvent<HTMLElement>) => {
    if (takePictures([...(e.clipboardData?.files ?? [])], (m, d) => page.addPicture(m, d))) e.preventDefault();
  };
  const onDrop = (e: TargetedDragEvent<HTMLElement>) => {
    e.preventDefault();
    setDragging(false);
    takePictures([...(e.dataTransfer?.files ?? [])], (m, d) => page.addPicture(m, d));
    const uris = (
      e.dataTransfer?.getData('application/vnd.code.uri-list') ||
      e.dataTransfer?.getData('text/uri-list') ||
      ''
    )
      .split(/\r?\n/)
      .filter((u) => u.startsWith('file:'));
    page.attach(uris.map((uri) => ({ uri, name: decodeURIComponent(uri.split('/').at(-1) ?? uri) })));
  };

  return (
    <form
      class={`composer${dragging ? ' dragging' : ''}${editing ? ' editing' : ''}`}
      aria-label={t('Message')}
      onSubmit={(e) => {
        e.preventDefault();
        void page.say();
      }}
      onPaste={onPaste}
      onDrop={onDrop}
      onDragOver={(e) => {
        e.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
    >
      {editing && (
        <div class="editing-note">
          <Icon name="edit" />
          <span>{t('Editing an earlier message. Sending starts a new branch.')}</span>
          <IconButton icon="close" label={t('Cancel edit')} onClick={() => page.cancelEdit()} />
        </div>
      )}
      <Chips />
      <div class="field">
        <textarea
          id="composer"
          ref={area}
          rows={1}
          value={text}
          placeholder={
            trusted ? placeholder(running, editing, unsteered !== '') : t('Restricted Mode: trust this folder to chat')
          }
          disabled={!trusted}
          aria-label={t('Message to {0}', program)}
          aria-autocomplete="list"
          aria-controls={suggestions.open ? 'suggestions' : undefined}
          aria-activedescendant={
            suggestions.open && suggestions.list.length > 0 ? `suggestion-${suggestions.at}` : undefined
          }
          onInput={onInput}
          onKeyDown={onKey}
          onSelect={(e) => setCursor(e.currentTarget.selectionStart)}
        />
        {suggestions.open && <Suggestions {...suggestions} />}
      </div>
      <div class="bar">
        <IconButton icon="attach" label={t('Attach files')} onClick={() => page.store.send({ kind: 'pickFiles' })} />
        <IconButton
          icon="history"
          label={t('Earlier prompts (Ctrl+R)')}
          onClick={() => page.store.send({ kind: 'window', command: 'history' })}
        />
        <Choices />
        <SendButtons some={some} />
      </div>
    </form>
  );
}
