// A tool call of the model: its description on one line, with its output and its change below.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { patchOfCall, rowsOfPatch } from '../diff/rows';
import { t } from '../l10n';
import { languageOf } from '../markdown/highlight';
import { denialReason } from '../state/ended';
import type { Call, CallStatus } from '../state/model';
import { subagentsOf } from '../state/subagents';
import type { Subagent } from '../state/subagents';
import { shownItems } from '../state/window';
import { blocks, obj, str } from '../state/wire';
import type { ContentBlock } from '../state/wire';
import { Code } from './code';
import { CopyButton, Fold, Icon, IconButton } from './controls';
import { Counts, DiffView } from './diff';
import { describe } from './describe';
import { withFileLinks } from './mentions';
import { outputText } from './output';
import { Pictures } from './pictures';
import { rowsIn } from './rows';
import type { Row } from './rows';
import { useChat, useFold, usePage } from './use';
import { visible } from '../../../src/chat/visible';

/** The icon and words of a call status. The words are shown where the icon alone could be read as a failure. */
const states: Record<CallStatus, () => { icon: string; spin?: boolean; words: string; shown?: boolean }> = {
  waiting: () => ({ icon: 'circle-outline', words: t('pending') }),
  asking: () => ({ icon: 'question', words: t('needs your approval') }),
  running: () => ({ icon: 'loading', spin: true, words: t('running') }),
  done: () => ({ icon: 'check', words: t('done') }),
  failed: () => ({ icon: 'error', words: t('failed') }),
  stopped: () => ({ icon: 'debug-stop', words: t('Stopped'), shown: true }),
  denied: () => ({ icon: 'circle-slash', words: t('Denied'), shown: true }),
};

/** With these, the change of a call was not made. */
const unmade: readonly CallStatus[] = ['failed', 'denied', 'stopped'];

/** A change with at most this many lines is open by default. */
const openRows = 40;
const shownOutput = 200_000; // UTF-16 units at the end of an output
const linkedOutput = 50_000; // UTF-16 units; in longer outputs, paths are text

/** Reports whether a call is open by default: while it is running, and if its change is short. */
function openByItself(status: CallStatus, name: string, rows: number): boolean {
  if (status === 'asking') return false; // the approval prompt shows the change
  if (rows > 0) return rows <= openRows;
  return status === 'running' && (name === 'bash' || name === 'Bash' || name === 'task');
}

function Output({ text, live, failed }: { text: string; live: boolean; failed: boolean }): JSX.Element {
  const ref = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const el = ref.current;
    if (el && live) el.scrollTop = el.scrollHeight;
  }, [text, live]);
  const cut = text.length > shownOutput ? '…' + text.slice(-shownOutput) : text;
  return (
    <div class={failed ? 'output failed' : 'output'}>
      <pre ref={ref} tabIndex={0} aria-label={t('Output')}>
        {live || cut.length > linkedOutput ? cut : withFileLinks(cut)}
      </pre>
      <CopyButton text={() => text} label={t('Copy output')} />
    </div>
  );
}

function Details({
  block,
  call,
  patch,
  path,
}: {
  block: ContentBlock;
  call: Call;
  patch: string;
  path: string;
}): JSX.Element {
  const args = obj(block.arguments);
  const result = obj(call.output);
  const agents = str(block.name) === 'task' ? subagentsOf(call.output) : [];
  const output = agents.length > 0 && call.status === 'running' ? '' : outputText(call.output);
  const command = str(args.command);
  const content = patch === '' ? str(args.content) : '';
  const rest = Object.entries(args).filter(
    ([k]) =>
      ![
        'command',
        'content',
        'edits',
        'oldText',
        'newText',
        'old_string',
        'new_string',
        'path',
        'file_path',
        'patch',
      ].includes(k),
  );
  const numbers = str(obj(result.details).patch) !== '' || str(args.patch) !== '';
  return (
    <>
      {str(block.argumentsError) && <p class="problem">{str(block.argumentsError)}</p>}
      {(command.length > 40 || command.includes('\n')) && <Code code={command} language="bash" live={false} />}
      {content && <Code code={content} language={languageOf(path)} live={false} />}
      {patch && <DiffView patch={patch} path={path} numbers={numbers} />}
      {rest.length > 0 && (
        <dl class="arguments">
          {rest.map(([k, v]) => (
            <div key={k}>
              <dt>{k}</dt>
              <dd>{typeof v === 'string' ? v : JSON.stringify(v)}</dd>
            </div>
          ))}
        </dl>
      )}
      {agents.length > 0 && <Subagents all={agents} />}
      {output && patch === '' && (
        <Output text={output} live={call.status === 'running'} failed={call.status === 'failed'} />
      )}
      <Pictures blocks={blocks(result.content)} />
    </>
  );
}

/** The words of a subagent's status. */
const agentStates: { [status: string]: () => string } = {
  pending: () => t('pending'),
  running: () => t('running'),
  completed: () => t('done'),
  failed: () => t('failed'),
  aborted: () => t('Stopped'),
};

/** The subagents of a call: what each does, and the way to its conversation. */
function Subagents({ all }: { all: readonly Subagent[] }): JSX.Element {
  const page = usePage();
  return (
    <ul class="subagents">
      {all.map((a) => (
        <li key={a.id}>
          <code>{visible(a.id)}</code> {visible(a.agent)} · {agentStates[a.status]?.() ?? visible(a.status)}
          {a.tools > 0 && ` · ${t('Tool calls: {0} ({1})', a.tools, visible(a.last))}`}
          {a.tokens > 0 && ` · ${t('Tokens: {0}', a.tokens)}`}
          {a.transcript && a.status !== 'pending' && (
            <button
              type="button"
              class="link"
              onClick={() =>
                page.store.send({ kind: 'act', command: 'xcsh.transcript', args: { source: a.transcript } })
              }
            >
              {t('Open transcript of {0}', visible(a.id))}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A row as a value that is equal to that of an equal row. */
const placeText = (row: Row | undefined): string => (row ? `${row.from} ${row.nth}` : '');

/** The subject of a call. In a narrow panel, the part before the offset is cut first. */
function What({ text, from }: { text: string; from: number }): JSX.Element {
  return (
    <code class="what parts" title={text.slice(0, 300)}>
      {from > 0 && from < text.length && <span class="head-part">{text.slice(0, from)}</span>}
      <span class="own-part">{from < text.length ? text.slice(from) : text}</span>
    </code>
  );
}

export const ToolCall = memo(function ToolCall({
  block,
  call,
  fold,
  cwd,
  row,
}: {
  block: ContentBlock;
  call: Call;
  fold: string;
  cwd: string;
  row: string; // its key among the rows of the conversation; "" if it has no neighbours
}): JSX.Element {
  const page = usePage();
  const place = useChat((s) => placeText(row ? rowsIn(shownItems(s.view), cwd).get(row) : undefined));
  const [from, nth] = place === '' ? [undefined, 0] : (place.split(' ').map(Number) as [number, number]);
  const d = useMemo(() => describe(block, cwd), [block, cwd]);
  const patch = useMemo(
    () => (unmade.includes(call.status) ? '' : patchOfCall(obj(block.arguments), obj(call.output))),
    [block, call.output, call.status],
  );
  const diff = useMemo(() => (patch ? rowsOfPatch(patch) : undefined), [patch]);
  const [open, setOpen] = useFold(fold, openByItself(call.status, str(block.name), diff?.rows.length ?? 0));
  const state = states[call.status]();
  const reason = call.status === 'denied' ? visible(denialReason(call.output).replace(/\s+/g, ' ')) : '';
  const summary = (
    <>
      <Icon name={d.icon} />
      <span class="verb">{d.verb}</span>
      {d.what && <What text={d.what} from={from ?? (d.path ? d.what.lastIndexOf('/') + 1 : 0)} />}
      {nth > 0 && <span class="tag">{t('#{0}', nth)}</span>}
      {diff && <Counts added={diff.added} removed={diff.removed} />}
      <span class={`call-state ${call.status}`} title={reason ? t('Denied: {0}', reason) : state.words}>
        <Icon name={state.icon} spin={state.spin ?? false} />
        <span class={state.shown ? 'words' : 'unseen'}>{state.words}</span>
        {reason && <span class="gist">{reason}</span>}
      </span>
    </>
  );
  return (
    <div class={`call ${call.status}`} data-call={str(block.id)}>
      <Fold class="call-fold" open={open} onToggle={setOpen} summary={summary}>
        {d.path && (
          <div class="call-tools">
            <button
              type="button"
              class="link"
              onClick={() => page.store.send({ kind: 'openFile', path: d.path, ...(d.line ? { line: d.line } : {}) })}
            >
              {t('Open {0}', d.path)}
            </button>
            {patch && call.status === 'done' && (
              <IconButton
                icon="diff"
                label={t('Show the change in an editor')}
                onClick={() => page.store.send({ kind: 'openDiff', path: d.path, patch })}
              />
            )}
          </div>
        )}
        <Details block={block} call={call} patch={patch} path={d.path} />
      </Fold>
    </div>
  );
});
