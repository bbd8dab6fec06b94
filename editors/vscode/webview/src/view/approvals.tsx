// Tool calls that wait for the person's word, with what they would change.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Decision } from '../../../src/chat/messages';
import { rowsOfPatch } from '../diff/rows';
import type { ApprovalPrompt } from '../state/wire';
import { obj, str } from '../state/wire';
import { relativeTo } from '../state/said';
import { Code } from './code';
import { visible } from '../../../src/chat/visible';
import { Icon, IconButton } from './controls';
import { Counts, DiffView } from './diff';
import { describe, ruleText } from './describe';
import { useChat, usePage } from './use';

function What({ prompt, path }: { prompt: ApprovalPrompt; path: string }): JSX.Element | null {
  const args = obj(prompt.args);
  if (prompt.preview.diff) return <DiffView patch={prompt.preview.diff} path={path} />;
  if (str(args.command)) return <Code code={visible(str(args.command))} language="bash" live={false} />;
  if (str(args.content)) return <Code code={visible(str(args.content))} language="" live={false} />;
  return Object.keys(args).length > 0 ? (
    <Code code={visible(JSON.stringify(args, null, 2))} language="json" live={false} />
  ) : null;
}

function Approval({ prompt, cwd }: { prompt: ApprovalPrompt; cwd: string }): JSX.Element {
  const page = usePage();
  const d = describe({ type: 'toolCall', name: prompt.tool, arguments: obj(prompt.args) }, cwd);
  const path = prompt.preview.paths?.[0] ?? d.path;
  const diff = prompt.preview.diff ? rowsOfPatch(prompt.preview.diff) : undefined;
  const rules = visible((prompt.rules ?? []).map(ruleText).join(', '));
  const decide = (decision: Decision) => () => page.decide(prompt.id, decision);
  return (
    <section class="approval" role="group" aria-label={`Permission: ${d.verb} ${d.what}`}>
      <header>
        <Icon name="shield" />
        <span class="verb">{d.verb}</span>
        {str(obj(prompt.args).command) ? <span>a command</span> : <code class="what">{d.what}</code>}
        {diff && <Counts added={diff.added} removed={diff.removed} />}
        {diff && path && (
          <IconButton
            icon="diff"
            label="Show the change in an editor"
            onClick={() => page.store.send({ kind: 'openDiff', path, patch: prompt.preview.diff ?? '' })}
          />
        )}
      </header>
      <div class="approval-what">
        <What prompt={prompt} path={path} />
      </div>
      {prompt.outside && prompt.outside.length > 0 && (
        <p class="warning">
          <Icon name="warning" />
          Outside of the folder: {visible(prompt.outside.map((p) => relativeTo(cwd, p)).join(', '))}
        </p>
      )}
      <footer>
        <button type="button" class="button" onClick={decide('once')}>
          Allow
        </button>
        {rules && (
          <button
            type="button"
            class="button secondary"
            title={`Allows in this session: ${rules}`}
            onClick={decide('session')}
          >
            For this session
          </button>
        )}
        {rules && (
          <button
            type="button"
            class="button secondary"
            title={`Allows in this folder from now on: ${rules}`}
            onClick={decide('workspace')}
          >
            Always
          </button>
        )}
        <button type="button" class="button secondary deny" onClick={decide('deny')}>
          Deny
        </button>
        {rules && (
          <span class="rules" title={rules}>
            Session and Always also allow: {rules}
          </span>
        )}
      </footer>
    </section>
  );
}

export function Approvals(): JSX.Element | null {
  const page = usePage();
  const approvals = useChat((s) => s.view.approvals);
  const cwd = useChat((s) => s.view.session?.cwd ?? '');
  const first = approvals[0];
  const told = useRef('');
  useEffect(() => {
    if (first && told.current !== first.id) page.speak(`Permission needed: ${first.preview.title || first.tool}`);
    told.current = first?.id ?? '';
  }, [first, page]);
  if (!first) return null;
  return (
    <div class="approvals">
      <Approval key={first.id} prompt={first} cwd={cwd} />
      {approvals.length > 1 && (
        <p class="quiet">
          {approvals.length - 1} more {approvals.length === 2 ? 'waits' : 'wait'} behind it.
        </p>
      )}
    </div>
  );
}
