// The composer: the prompt, its attachments, and its buttons.

import type { JSX, TargetedClipboardEvent, TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { engineName } from '../engine';
import { t } from '../l10n';
import { Chips } from './chips';
import { Choices } from './choices';
import { Icon, IconButton } from './controls';
import { useCommands } from './commands';
import { takePictures } from './drop';
import { Highlights } from './highlights';
import { useRecall } from './recall';
import { useReferences } from './references';
import { Suggestions } from './suggestions';
import { useChat, usePage, useRefusal, useUi } from './use';

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

function placeholder(running: boolean, editing: boolean, queues: boolean): string {
  if (editing) return t('Edit your message');
  if (running && queues) return t('Queue a message…');
  return running ? t('Add to the running task…') : t('Ask anything, @ to add context, / for commands');
}

/** Sends, queues, or stops. An engine that cannot be steered only queues. */
function SendButtons({ some, queue }: { some: boolean; queue: () => void }): JSX.Element {
  const page = usePage();
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const running = useChat((s) => s.view.running || s.view.compacting);
  const ready = useChat((s) => s.sync.live);
  const unsteered = useRefusal('steer');
  const sends = running ? t('Send to the running task (Enter)') : t('Send (Enter)');
  const queues = unsteered ? t('Queue message (Enter)') : t('Queue message (Alt+Enter)');
  return (
    <span class="send">
      {running && some && <IconButton icon="debug-step-over" label={queues} onClick={queue} />}
      {running && (
        <IconButton
          icon="debug-stop"
          label={t('Stop (Escape)')}
          class="stop"
          onClick={() => void page.prompts.stop()}
        />
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
  const program = useChat((s) => engineName(s.view.engine));
  const unsteered = useRefusal('steer');

  // In the same frame as the text, not after it is painted, because the user continues typing
  // immediately.
  useLayoutEffect(() => area.current?.focus(), [focus, area]);

  // In the same frame, too: what the user types next belongs there.
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (caret.current !== null) area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const write = (next: { text: string; cursor: number }) => {
    caret.current = next.cursor;
    page.keep({ text: next.text });
    setCursor(next.cursor);
  };
  const references = useReferences(text, cursor, write);
  const commands = useCommands(text, cursor, write);
  const suggestions = commands.open ? commands : references;

  const onKey = (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (e.isComposing) return;
    if (suggestions.key(e)) return e.preventDefault();
    if (e.key === 'Enter' && !e.shiftKey) {
      e.preventDefault();
      recalling.reset();
      return void page.prompts.say(e.altKey ? 'followUp' : 'steer');
    }
    if (e.key === 'Escape' && editing) return page.prompts.cancelEdit();
    if (e.key === 'Escape' && running) return void page.prompts.stop();
    if (recalling.key(e)) e.preventDefault();
  };

  const onInput = (e: TargetedEvent<HTMLTextAreaElement>) => {
    recalling.reset();
    setCursor(e.currentTarget.selectionStart);
    page.keep({ text: e.currentTarget.value });
  };

  const onPaste = (e: TargetedClipboardEvent<HTMLElement>) => {
    if (takePictures([...(e.clipboardData?.files ?? [])], (m, d) => page.addPicture(m, d))) e.preventDefault();
  };
  const send = (how?: 'followUp') => {
    void page.prompts.say(how);
    page.backToComposer(); // the button can disappear
  };

  return (
    <form
      class={`composer${editing ? ' editing' : ''}`}
      aria-label={t('Message')}
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
      onPaste={onPaste}
    >
      {editing && (
        <div class="editing-note">
          <Icon name="edit" />
          <span>{t('Editing an earlier message. Sending starts a new branch.')}</span>
          <IconButton icon="close" label={t('Cancel edit')} onClick={() => page.prompts.cancelEdit()} />
        </div>
      )}
      <Chips />
      <div class="field">
        <Highlights text={text} of={area} />
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
        <IconButton
          icon="attach"
          label={t('Attach files (or drop them here with Shift)')}
          onClick={() => page.store.send({ kind: 'pickFiles' })}
        />
        <IconButton
          icon="history"
          label={t('Earlier prompts (Ctrl+R)')}
          onClick={() => page.store.send({ kind: 'window', command: 'history' })}
        />
        <Choices />
        <SendButtons some={some} queue={() => send('followUp')} />
      </div>
    </form>
  );
}
