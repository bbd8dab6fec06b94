// Tool calls that wait for the person's word, with what they would change.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Decision } from '../../../src/chat/messages';
import { rowsOfPatch } from '../diff/rows';
import { t } from '../l10n';
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
    <section class="approval" role="group" aria-label={t('Permission: {0} {1}', d.verb, d.what)}>
      <header>
        <Icon name="shield" />
        <span class="verb">{d.verb}</span>
        {str(obj(prompt.args).command) ? <span>{t('a command')}</span> : <code class="what">{d.what}</code>}
        {diff && <Counts added={diff.added} removed={diff.removed} />}
        {diff && path && (
          <IconButton
            icon="diff"
            label={t('Show the change in an editor')}
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
          {t('Outside of the folder: {0}', visible(prompt.outside.map((p) => relativeTo(cwd, p)).join(', ')))}
        </p>
      )}
      <footer>
        <button type="button" class="button" onClick={decide('once')}>
          {t('Allow')}
        </button>
        {rules && (
          <button
            type="button"
            class="button secondary"
            title={t('Allows in this session: {0}', rules)}
            onClick={decide('session')}
          >
            {t('For this session')}
          </button>
        )}
        {rules && (
          <button
            type="button"
            class="button secondary"
            title={t('Allows in this folder from now on: {0}', rules)}
            onClick={decide('workspace')}
          >
            {t('Always')}
          </button>
        )}
        <button type="button" class="button secondary deny" onClick={decide('deny')}>
          {t('Deny')}
        </button>
        {rules && (
          <span class="rules" title={rules}>
            {t('Session and Always also allow: {0}', rules)}
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
    if (first && told.current !== first.id) page.speak(t('Permission needed: {0}', first.preview.title || first.tool));
    told.current = first?.id ?? '';
  }, [first, page]);
  if (!first) return null;
  return (
    <div class="approvals">
      <Approval key={first.id} prompt={first} cwd={cwd} />
      {approvals.length > 1 && (
        <p class="quiet">
          {approvals.length === 2 ? t('1 more waits behind it.') : t('{0} more wait behind it.', approvals.length - 1)}
        </p>
      )}
    </div>
  );
}
