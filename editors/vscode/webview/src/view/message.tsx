// One message of the conversation.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import type { ForkPosition } from '../../../src/chat/messages';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import { endedAs } from '../state/ended';
import { isPrompt, promptOf } from '../state/prompt';
import { fileIcon, fileLabel, isFile } from '../state/userMessage';
import type { Item } from '../state/model';
import { blocks, num, obj, plainText, str } from '../state/wire';
import type { ContentBlock } from '../state/wire';
import { CopyButton, Fold, Icon, IconButton } from './controls';
import { Markdown } from './markdown';
import { Pictures } from './pictures';
import { outputText } from './output';
import { rowKey } from './rows';
import { ToolCall } from './toolcall';
import { costText, exact, tokenText } from './describe';
import { engineName } from '../engine';
import { useChat, useFold, usePage, useRefusal, useUi } from './use';

function Branches({ entryId }: { entryId: string }): JSX.Element | null {
  const page = usePage();
  const a = useUi((u) => u.branches.get(entryId));
  const busy = useChat((s) => s.view.running || !s.sync.live);
  const refusal = useRefusal('branch');
  if (!a) return null;
  return (
    <span class="branches" role="group" aria-label={t('Branches of the conversation')}>
      <IconButton
        icon="chevron-left"
        label={t('Previous branch')}
        disabled={busy || a.at === 0}
        refusal={refusal}
        onClick={() => void page.switchBranch(entryId, -1)}
      />
      <span aria-label={t('Branch {0} of {1}', a.at + 1, a.ids.length)}>
        {a.at + 1}/{a.ids.length}
      </span>
      <IconButton
        icon="chevron-right"
        label={t('Next branch')}
        disabled={busy || a.at === a.ids.length - 1}
        refusal={refusal}
        onClick={() => void page.switchBranch(entryId, 1)}
      />
    </span>
  );
}

function UserMessage({ item }: { item: Item }): JSX.Element {
  const page = usePage();
  const said = promptOf(item);
  const [open, setOpen] = useFold(`${item.entryId || item.key}/made`, false);
  const busy = useChat((s) => s.view.running || !s.sync.live);
  const reading = useUi((u) => u.init?.reading !== undefined);
  const refusal = useRefusal('branch');
  const editing = useUi((u) => u.kept.editing !== '' && u.kept.editing === item.entryId);
  return (
    <div class={editing ? 'request editing' : 'request'}>
      <div class="bubble">
        {said.files.length > 0 && (
          <ul class="chips" aria-label={t('Attached files')}>
            {said.files.map((f, i) => (
              <li key={i}>
                {isFile(f) ? (
                  <button
                    type="button"
                    class="chip"
                    title={f.path}
                    onClick={() =>
                      page.store.send({ kind: 'openFile', path: f.path, ...(f.from ? { line: f.from } : {}) })
                    }
                  >
                    <Icon name={fileIcon(f)} />
                    {fileLabel(f)}
                  </button>
                ) : (
                  <span class="chip">
                    <Icon name={fileIcon(f)} />
                    <span>{visible(fileLabel(f))}</span>
                  </span>
                )}
              </li>
            ))}
          </ul>
        )}
        {said.text && said.made === undefined && <div class="said">{said.text}</div>}
        {said.made !== undefined && (
          <Fold class="made" open={open} onToggle={setOpen} summary={<span class="said">{visible(said.text)}</span>}>
            <Markdown text={said.made} live={false} />
          </Fold>
        )}
        <Pictures blocks={blocks(item.message.content)} />
      </div>
      <div class="message-tools">
        {item.entryId && <Branches entryId={item.entryId} />}
        <span class="on-demand">
          <CopyButton text={() => said.text} label={t('Copy prompt')} />
          {item.entryId && !reading && (
            <IconButton
              icon="edit"
              label={t('Edit and resend')}
              disabled={busy}
              refusal={refusal}
              onClick={() => page.prompts.edit(item.entryId)}
            />
          )}
          <RewindButton item={item} />
          <ForkButton item={item} label={t('Fork before this prompt')} position="before" />
        </span>
      </div>
    </div>
  );
}

/** Opens the confirmation of a rewind to before a prompt. */
function RewindButton({ item }: { item: Item }): JSX.Element | null {
  const page = usePage();
  const busy = useChat((s) => s.view.running || !s.sync.live);
  const offered = useUi(
    (u) => u.init?.trusted === true && u.init.reading === undefined && u.init.commands.includes('xcsh.rewind'),
  );
  if (!item.entryId || !offered) return null;
  return (
    <IconButton
      icon="discard"
      label={t('Rewind to here…')}
      disabled={busy}
      onClick={() => page.changes.rewindTo(item.entryId)}
    />
  );
}

/** Forks the session here; the current one is not changed. */
function ForkButton({
  item,
  label,
  position,
}: {
  item: Item;
  label: string;
  position: ForkPosition;
}): JSX.Element | null {
  const page = usePage();
  const busy = useChat((s) => s.view.running || !s.sync.live);
  const trusted = useUi((u) => u.init?.reading === undefined || u.init.trusted);
  if (!item.entryId || !trusted) return null;
  return (
    <IconButton
      icon="repo-forked"
      label={label}
      disabled={busy}
      onClick={() => page.store.send({ kind: 'fork', entryId: item.entryId, position })}
    />
  );
}

const Thinking = memo(function Thinking({
  text,
  live,
  fold,
}: {
  text: string;
  live: boolean;
  fold: string;
}): JSX.Element {
  const [open, setOpen] = useFold(fold, false);
  const last =
    text
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/[*_#`]/g, '')
      .slice(0, 200) ?? '';
  const summary = (
    <>
      <Icon name="lightbulb" />
      <span class={live ? 'verb shimmer' : 'verb'}>{live ? t('Thinking') : t('Thought process')}</span>
      {!open && <span class="gist">{last}</span>}
    </>
  );
  return (
    <Fold class="thinking" open={open} onToggle={setOpen} summary={summary}>
      <Markdown text={text} live={live} />
    </Fold>
  );
});

function AnswerBlock({
  block,
  item,
  at,
  live,
  cwd,
}: {
  block: ContentBlock;
  item: Item;
  at: number;
  live: boolean;
  cwd: string;
}): JSX.Element | null {
  const fold = `${item.entryId || item.key}/${at}`;
  switch (block.type) {
    case 'text':
      return str(block.text).trim() ? <Markdown text={str(block.text)} live={live} /> : null;
    case 'thinking':
      return str(block.thinking).trim() ? <Thinking text={str(block.thinking)} live={live} fold={fold} /> : null;
    case 'redactedThinking':
      return <p class="quiet">{t('The provider does not reveal this reasoning.')}</p>;
    case 'toolCall':
      return (
        <ToolCall
          block={block}
          call={item.calls[str(block.id)] ?? { status: 'waiting' }}
          fold={fold}
          cwd={cwd}
          row={rowKey(item.key, at)}
        />
      );
    case 'image':
      return <Pictures blocks={[block]} />;
    default:
      return null;
  }
}

function Failed({ item }: { item: Item }): JSX.Element | null {
  const page = usePage();
  const { message } = item;
  const last = useChat((s) => s.view.items.at(-1)?.key === item.key && !s.view.running && s.sync.live);
  const reading = useUi((u) => u.init?.reading !== undefined);
  const error = str(message.errorMessage);
  if (message.stopReason === 'aborted')
    return (
      <p class="ended">
        <Icon name="circle-slash" />
        {t('Stopped')}
      </p>
    );
  if (message.stopReason === 'length')
    return (
      <p class="ended">
        <Icon name="warning" />
        {t("The answer reached the model's output limit.")}
      </p>
    );
  if (message.stopReason !== 'error' && error === '') return null;
  return (
    <div class="failure" role="group" aria-label={t('The request failed')}>
      <Icon name="error" />
      <p>{error || t('The request failed.')}</p>
      {last && !reading && (
        <button type="button" class="button secondary" onClick={() => void page.prompts.retry()}>
          <Icon name="refresh" />
          {t('Try again')}
        </button>
      )}
    </div>
  );
}

/** Returns the small print of a finished answer. */
function answerFacts(item: Item): string {
  const u = obj(item.message.usage);
  const out = num(u.output);
  const tokens = out === 1 ? t('1 token') : out > 0 ? t('{0} tokens', tokenText(out)) : '';
  return [str(item.message.model), tokens, costText(num(obj(u.cost).total))].filter(Boolean).join(' · ');
}

function usageTitle(item: Item): string {
  const u = obj(item.message.usage);
  const tokens = (v: unknown, words: (n: string) => string) => (num(v) > 0 ? [words(exact(num(v)))] : []);
  return [
    ...tokens(u.input, (n) => t('{0} in', n)),
    ...tokens(u.output, (n) => t('{0} out', n)),
    ...tokens(u.cacheRead, (n) => t('{0} cache reads', n)),
    ...tokens(u.cacheWrite, (n) => t('{0} cache writes', n)),
  ].join(', ');
}

function Answer({ item, cwd }: { item: Item; cwd: string }): JSX.Element {
  const content = blocks(item.message.content);
  const text = content.some((b) => b.type === 'text' && str(b.text).trim() !== '');
  const retrying = useChat((s) => s.view.retry !== null);
  const turnEnd = !item.live && item.message.stopReason !== 'toolUse';
  return (
    <div class="answer">
      {content.map((b, i) => (
        <AnswerBlock key={i} block={b} item={item} at={i} live={item.live && i === content.length - 1} cwd={cwd} />
      ))}
      {item.live && content.length === 0 && !retrying && (
        <p class="working">
          <span class="shimmer">{t('Working')}</span>
        </p>
      )}
      <Failed item={item} />
      {turnEnd && text && (
        <div class="message-tools">
          <span class="on-demand">
            <CopyButton text={() => plainText(item.message.content)} label={t('Copy answer')} />
            <ForkButton item={item} label={t('Fork after this answer')} position="at" />
          </span>
          <span class="facts on-demand" title={usageTitle(item)}>
            {answerFacts(item)}
          </span>
        </div>
      )}
    </div>
  );
}

function Summary({ item, title }: { item: Item; title: string }): JSX.Element {
  const [open, setOpen] = useFold(item.entryId || item.key, false);
  return (
    <Fold
      class="summary"
      open={open}
      onToggle={setOpen}
      summary={
        <>
          <Icon name="fold" />
          <span class="verb">{title}</span>
        </>
      }
    >
      <Markdown text={str(item.message['summary']) || plainText(item.message.content)} live={false} />
    </Fold>
  );
}

function Execution({ item }: { item: Item }): JSX.Element {
  const m = item.message;
  const output = outputText({ content: str(m['output']) });
  const [open, setOpen] = useFold(item.entryId || item.key, output.split('\n').length <= 12);
  const code = num(m['exitCode']);
  const state = m['cancelled'] === true ? t('stopped') : code === 0 ? '' : t('exit code {0}', code);
  const summary = (
    <>
      <Icon name="terminal" />
      <code class="what">{str(m['command']) || str(m['code'])}</code>
      {m['excludeFromContext'] === true && <span class="tag">{t('hidden from the model')}</span>}
      {state && <span class="tag bad">{state}</span>}
    </>
  );
  return (
    <div class="call">
      <Fold class="call-fold" open={open} onToggle={setOpen} summary={summary}>
        <div class="output">
          <pre tabIndex={0} aria-label={t('Output')}>
            {output || t('No output')}
          </pre>
        </div>
      </Fold>
    </div>
  );
}

/** Shows a result whose call is no longer in the context. */
function LoneResult({ item }: { item: Item }): JSX.Element {
  const block: ContentBlock = {
    type: 'toolCall',
    id: str(item.message.toolCallId),
    name: str(item.message.toolName),
    arguments: {},
  };
  return (
    <ToolCall
      block={block}
      call={{ status: endedAs(item.message, item.message.isError), output: item.message }}
      fold={item.entryId || item.key}
      cwd=""
      row=""
    />
  );
}

function Custom({ item }: { item: Item }): JSX.Element | null {
  if (item.message['display'] === false) return null;
  return (
    <div class="custom">
      <p class="quiet">{str(item.message['customType']) || t('Extension message')}</p>
      <Markdown text={plainText(item.message.content)} live={false} />
    </div>
  );
}

const names: Record<string, (program: string) => string> = {
  user: () => t('You'),
  assistant: (program) => program,
  toolResult: () => t('Tool result'),
  bashExecution: () => t('Your command'),
  pythonExecution: () => t('Your command'),
  compactionSummary: () => t('Summary of earlier messages'),
  branchSummary: () => t('Summary of another branch'),
};

function body(item: Item, cwd: string): JSX.Element | null {
  switch (item.message.role) {
    case 'user':
      return <UserMessage item={item} />;
    case 'assistant':
      return <Answer item={item} cwd={cwd} />;
    case 'toolResult':
      return <LoneResult item={item} />;
    case 'bashExecution':
    case 'pythonExecution':
      return <Execution item={item} />;
    case 'compactionSummary':
      return <Summary item={item} title={t('Earlier messages (summarized)')} />;
    case 'branchSummary':
      return <Summary item={item} title={t('Another branch (summarized)')} />;
    default:
      return isPrompt(item.message) ? <UserMessage item={item} /> : <Custom item={item} />;
  }
}

/** A message is a keyboard stop: Alt with the arrow keys moves from one to the next. */
export const Message = memo(function Message({ item, cwd }: { item: Item; cwd: string }): JSX.Element | null {
  const program = useChat((s) => engineName(s.view.engine));
  const role = isPrompt(item.message) ? 'user' : item.message.role;
  if (item.retried) return null; // the next attempt takes its place
  if (role === 'system') return null; // pi records the system prompt and the tools
  const name = Object.hasOwn(names, role) ? names[role] : undefined;
  return (
    <article
      class={`message ${name ? role : 'custom'}`}
      tabIndex={-1}
      data-key={item.key}
      aria-label={name?.(program) ?? t('Message')}
      aria-busy={item.live}
    >
      {body(item, cwd)}
    </article>
  );
});
