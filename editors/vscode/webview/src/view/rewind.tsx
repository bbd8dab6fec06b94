// The confirmation of a rewind: its scope, the planned change of each file, and the button.

import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { ChangesModel, modes } from '../changes';
import type { Mode, Rewinding } from '../changes';
import { t } from '../l10n';
import type { Lines as Range, PlanAction, PlanPath } from '../state/changes';
import { filesText, Lines, Path } from './changes';
import { Icon, IconButton } from './controls';
import { useChanges, usePage, useRefusal } from './use';

const modeTexts: Record<Mode, () => [name: string, about: string]> = {
  both: () => [t('Files and conversation'), t('Restore the files from before this prompt, and edit the prompt.')],
  files: () => [
    t('Files only'),
    t('Restore the files. The conversation stays, and the model is notified of the changed files.'),
  ],
  conversation: () => [t('Conversation only'), t('Edit the prompt. The files stay.')],
};

const actionLooks: Record<PlanAction, () => [icon: string, words: string]> = {
  none: () => ['dash', t('unchanged')],
  restore: () => ['discard', t('restored')],
  merge: () => ['git-merge', t('restored, with your changes')],
  create: () => ['diff-added', t('created again')],
  remove: () => ['diff-removed', t('removed')],
  conflict: () => ['warning', t('conflict')],
};

function titleOf({ target }: Rewinding): string {
  switch (target.kind) {
    case 'before':
      return t('Rewind to before this prompt?');
    case 'to':
      return t('Rewind to this message?');
    case 'turn':
      return t('Undo the changes of this turn?');
    case 'pending':
      return t('Undo all changes that you have not kept?');
  }
}

const lineText = ({ start, end }: Range): string =>
  start === end ? t('line {0}', start) : t('lines {0}–{1}', start, end);

function Mode({ mode, rewinding }: { mode: Mode; rewinding: Rewinding }): JSX.Element {
  const { changes } = usePage();
  const refusal = useRefusal('branch');
  const [name, about] = modeTexts[mode]();
  const refused = mode === 'files' ? '' : refusal;
  return (
    <label class="mode-choice">
      <input
        type="radio"
        name="rewind-mode"
        checked={rewinding.mode === mode}
        disabled={rewinding.running || refused !== ''}
        onChange={() => changes.choose(mode)}
      />
      <span>
        <span class="name">{name}</span>
        <span class="about">{refused || about}</span>
      </span>
    </label>
  );
}

/** The reason of a conflict, with links to its lines. */
function Reason({ planned }: { planned: PlanPath }): JSX.Element {
  const { changes } = usePage();
  return (
    <p class="reason">
      {visible(planned.text) || t('The change cannot be undone.')}
      {planned.places.map((place) => (
        <button
          key={`${place.start}-${place.end}`}
          type="button"
          class="link"
          onClick={() => changes.showPlan({ ...planned, places: [place] })}
        >
          {lineText(place)}
        </button>
      ))}
      {planned.hint && <span class="about">{t('The file may have been renamed to {0}.', visible(planned.hint))}</span>}
    </p>
  );
}

function PlanRow({ planned, running }: { planned: PlanPath; running: boolean }): JSX.Element {
  const { changes } = usePage();
  const [icon, words] = actionLooks[planned.action]();
  const conflict = planned.action === 'conflict';
  const name = visible(planned.path.slice(Math.max(planned.path.lastIndexOf('/'), planned.path.lastIndexOf('\\')) + 1));
  return (
    <li class={conflict ? 'conflict' : ''}>
      <div class="plan-row">
        <button
          type="button"
          class="changed"
          title={visible(planned.path)}
          disabled={planned.action === 'none'}
          onClick={() => changes.showPlan(planned)}
        >
          <span class={`status-icon ${planned.action}`}>
            <Icon name={icon} />
          </span>
          <Path path={planned.path} />
          <span class="about">{words}</span>
          <Lines added={planned.added} removed={planned.removed} />
        </button>
        {!conflict && planned.action !== 'none' && (
          <IconButton
            icon="circle-slash"
            label={t('Leave {0} out', name)}
            disabled={running}
            onClick={() => changes.leaveOut(planned)}
          />
        )}
      </div>
      {conflict && (
        <div class="why">
          <Reason planned={planned} />
          <button type="button" class="button secondary" disabled={running} onClick={() => changes.leaveOut(planned)}>
            {t('Leave it out')}
          </button>
        </div>
      )}
      {planned.action === 'merge' && planned.yours.length > 0 && (
        <p class="about yours">{t('Your changes stay: {0}', planned.yours.map(lineText).join(', '))}</p>
      )}
    </li>
  );
}

function LeftOut({ rewinding }: { rewinding: Rewinding }): JSX.Element | null {
  const { changes } = usePage();
  if (rewinding.leftOut.length === 0) return null;
  return (
    <>
      <h3>{t('Left out')}</h3>
      <ul class="plan" aria-label={t('Left out')}>
        {rewinding.leftOut.map((planned) => (
          <li key={planned.path} class="left-out">
            <div class="plan-row">
              <span class="changed">
                <Path path={planned.path} />
              </span>
              <button
                type="button"
                class="link"
                disabled={rewinding.running}
                onClick={() => changes.takeIn(planned.path)}
              >
                {t('Include')}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A summary of the plan, which screen readers announce when it changes. */
function summaryOf(rewinding: Rewinding): string {
  const { mode, plan, planning, running } = rewinding;
  if (running) return t('Rewinding…');
  if (planning && !plan) return t('Checking files…');
  if (mode === 'conversation') return t('No file changes.');
  if (!plan) return '';
  if (plan.conflicts > 0)
    return plan.conflicts === 1
      ? t('1 file has conflicts. Leave it out to continue.')
      : t('{0} files have conflicts. Leave them out to continue.', plan.conflicts);
  const changed = plan.paths.filter((p) => p.action !== 'none').length;
  if (changed === 0) return t('No file changes: the files already have this state.');
  return changed === 1 ? t('1 file changes.') : t('{0} files change.', changed);
}

function PlanView({ rewinding }: { rewinding: Rewinding }): JSX.Element | null {
  const { changes } = usePage();
  const { plan, mode, running, acrossHead } = rewinding;
  if (mode === 'conversation' || !plan) return null;
  const order = (p: PlanPath) => (p.action === 'conflict' ? 0 : p.action === 'none' ? 2 : 1);
  const paths = plan.paths.toSorted((a, b) => order(a) - order(b));
  const showable = paths.some((p) => p.action !== 'none' && p.action !== 'conflict');
  return (
    <>
      {plan.headMoved && (
        <label class="head-moved">
          <input
            type="checkbox"
            checked={acrossHead}
            disabled={running}
            onChange={(e) => changes.setAcrossHead(e.currentTarget.checked)}
          />
          <span>{t('Commits were made since these changes. Undo the changes anyway; the commits stay.')}</span>
        </label>
      )}
      {paths.length > 0 && (
        <ul class="plan" aria-label={filesText(paths.length)}>
          {paths.map((planned) => (
            <PlanRow key={planned.path} planned={planned} running={running} />
          ))}
        </ul>
      )}
      <LeftOut rewinding={rewinding} />
      {plan.limits.map((text) => (
        <p key={text} class="limit">
          <Icon name="info" />
          <span>{visible(text)}</span>
        </p>
      ))}
      {showable && (
        <button type="button" class="link show-plan" onClick={() => changes.showPlan()}>
          <Icon name="diff-multiple" />
          {t('Show in the editor')}
        </button>
      )}
    </>
  );
}

function Question({ rewinding }: { rewinding: Rewinding }): JSX.Element {
  const { changes } = usePage();
  const box = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    if (!dialog) return undefined;
    const before = document.activeElement;
    dialog.showModal();
    cancel.current?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const { target, error, renewed, planning, running } = rewinding;
  const byEntry = target.kind === 'before' || target.kind === 'to';
  return (
    <dialog
      class="rewind"
      ref={box}
      aria-labelledby="rewind-title"
      aria-describedby="rewind-summary"
      aria-busy={planning || running}
      onCancel={(e) => {
        e.preventDefault();
        changes.cancel();
      }}
    >
      <h2 id="rewind-title">{titleOf(rewinding)}</h2>
      <div class="rewind-body">
        {byEntry && (
          <fieldset>
            <legend class="unseen">{t('Scope of the rewind')}</legend>
            {modes.map((mode) => (
              <Mode key={mode} mode={mode} rewinding={rewinding} />
            ))}
          </fieldset>
        )}
        {renewed && (
          <p class="renewed">
            <Icon name="sync" />
            <span>{t('The files have changed, so this is a new plan. No file was changed yet.')}</span>
          </p>
        )}
        <p id="rewind-summary" class={planning ? 'summary planning' : 'summary'} role="status">
          {summaryOf(rewinding)}
        </p>
        {error && (
          <p class="problem" role="alert">
            <Icon name="error" />
            <span>{visible(error)}</span>
          </p>
        )}
        <PlanView rewinding={rewinding} />
      </div>
      <footer>
        <span class="about">{rewinding.mode === 'conversation' ? '' : t('You can redo the changes afterwards.')}</span>
        <button type="button" class="button secondary" ref={cancel} disabled={running} onClick={() => changes.cancel()}>
          {t('Cancel')}
        </button>
        <button
          type="button"
          class="button"
          aria-disabled={!ChangesModel.ready(rewinding)}
          onClick={(e) => e.detail <= 1 && void changes.confirm()}
        >
          {byEntry ? t('Rewind') : t('Undo')}
        </button>
      </footer>
    </dialog>
  );
}

export function RewindQuestion(): JSX.Element | null {
  const rewinding = useChanges((c) => c.rewinding);
  return rewinding && <Question key={rewinding.key} rewinding={rewinding} />;
}
