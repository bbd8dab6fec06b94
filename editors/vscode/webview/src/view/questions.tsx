// Questions of the model, of servers and of extensions of the engine. The oldest one is shown; the others wait.

import type { JSX, TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { engineName } from '../engine';
import { t } from '../l10n';
import type { Question } from '../state/engine';
import { Icon, IconButton } from './controls';
import { sequences } from './output';
import { useChat, usePage, useUi } from './use';

/** From this number of options on, a field filters them. */
const manyOptions = 9;

const maxTitle = 2000; // characters
const maxMessage = 10_000; // characters

/** Returns a text of an extension as it can be shown. */
const plain = (text: string, most: number) => visible(text.replace(sequences, '').slice(0, most));

type Answer = Parameters<ReturnType<typeof usePage>['answer']>[1];

interface Asked {
  question: Question;
  answered: boolean;
  answer: (a: Answer) => void;
}

function Options({ question, answered, answer }: Asked): JSX.Element {
  const [filter, setFilter] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const [own, setOwn] = useState('');
  const choose = (option: string) => {
    if (!question.multi) return answer({ value: option });
    setChosen(chosen.includes(option) ? chosen.filter((o) => o !== option) : [...chosen, option]);
  };
  const text = own.trim() === '' ? {} : { value: own };
  const send = () => answer(question.multi ? { values: chosen, ...text } : text);
  const many = question.options.length >= manyOptions;
  const wanted = filter.trim().toLowerCase();
  const shown = question.options
    .map((option, i) => ({ option, i, label: plain(option, maxTitle) }))
    .filter(({ label }) => label.toLowerCase().includes(wanted));
  return (
    <>
      {many && (
        <input
          type="text"
          class="filter"
          value={filter}
          placeholder={t('Filter options')}
          aria-label={t('Filter options')}
          onInput={(e) => setFilter(e.currentTarget.value)}
        />
      )}
      <ul class="options" aria-label={t('Options')}>
        {shown.map(({ option, i, label }) => (
          <li key={i}>
            <button
              type="button"
              class="button secondary"
              dir="auto"
              aria-pressed={question.multi ? chosen.includes(option) : undefined}
              onClick={(e) => e.detail <= 1 && choose(option)}
            >
              {question.multi && <Icon name={chosen.includes(option) ? 'check' : 'blank'} />}
              <span class="label">
                {label || t('Option {0}', i + 1)}
                {i === question.recommended && <span class="quiet"> · {t('recommended')}</span>}
                {question.descriptions[i] && (
                  <span class="description">{plain(question.descriptions[i], maxMessage)}</span>
                )}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && many && <p class="quiet">{t('No options match.')}</p>}
      {question.other && (
        <input
          type="text"
          value={own}
          placeholder={t('Other answer')}
          aria-label={t('Other answer')}
          readOnly={answered}
          onInput={(e) => setOwn(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.isComposing || e.key !== 'Enter' || own.trim() === '') return;
            e.preventDefault();
            send();
          }}
        />
      )}
      {(question.multi || question.other) && (
        <footer>
          <button type="button" class="button" disabled={!question.multi && own.trim() === ''} onClick={send}>
            {t('Answer')}
          </button>
        </footer>
      )}
    </>
  );
}

function Confirm({ answer }: Asked): JSX.Element {
  const choose = (confirmed: boolean) => (e: MouseEvent) => {
    if (e.detail <= 1) answer({ confirmed });
  };
  return (
    <footer>
      <button type="button" class="button" onClick={choose(true)}>
        {t('Yes')}
      </button>
      <button type="button" class="button secondary" onClick={choose(false)}>
        {t('No')}
      </button>
    </footer>
  );
}

/** One line, or several for the method editor. */
function Write({ question, answered, answer }: Asked): JSX.Element {
  const [text, setText] = useState(question.prefill);
  const editor = question.method === 'editor';
  const label = plain(question.title, maxTitle) || t('Your answer');
  const onInput = (e: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => setText(e.currentTarget.value);
  const onKeyDown = (e: TargetedKeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    if (e.isComposing || e.key !== 'Enter' || (editor && !e.ctrlKey && !e.metaKey)) return;
    e.preventDefault();
    answer({ value: text });
  };
  return (
    <>
      {editor ? (
        <textarea
          rows={6}
          value={text}
          aria-label={label}
          readOnly={answered}
          onInput={onInput}
          onKeyDown={onKeyDown}
        />
      ) : (
        <input
          type="text"
          value={text}
          placeholder={plain(question.placeholder, maxTitle)}
          aria-label={label}
          readOnly={answered}
          onInput={onInput}
          onKeyDown={onKeyDown}
        />
      )}
      <footer>
        <button
          type="button"
          class="button"
          title={editor ? t('Answer (Ctrl+Enter)') : t('Answer (Enter)')}
          onClick={() => answer({ value: text })}
        >
          {t('Answer')}
        </button>
      </footer>
    </>
  );
}

/** The seconds until the engine stops waiting. The question is removed then: the engine does not announce it. */
function Left({ question }: { question: Question }): JSX.Element {
  const page = usePage();
  const skew = useUi((u) => u.skew);
  const rest = () => Math.max(0, Math.ceil((question.until - Date.now() - skew) / 1000));
  const [left, setLeft] = useState(rest);
  useEffect(() => {
    const tick = () => {
      setLeft(rest());
      if (rest() === 0) page.store.dispatch({ type: 'questionGone', id: question.id });
    };
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [question, skew, page]);
  const [minutes, seconds] = [Math.floor(left / 60), left % 60];
  return (
    <span class="left quiet" role="timer">
      {minutes > 0 ? t('{0} min {1} s left', minutes, seconds) : t('{0} s left', seconds)}
    </span>
  );
}

/** The words that announce a question. */
function announcement(question: Question, program: string): string {
  const title = plain(question.title, maxTitle);
  switch (question.from) {
    case 'model':
      return t('The model asks: {0}', title);
    case 'server':
      return t('A server asks: {0}', title);
    default:
      return t('An extension of {0} asks: {1}', program, title);
  }
}

function Card({ question }: { question: Question }): JSX.Element {
  const page = usePage();
  const program = useChat((s) => engineName(s.view.engine));
  const [answered, setAnswered] = useState(false);
  const answer = (a: Answer) => {
    if (answered) return;
    setAnswered(true);
    void page.answer(question, a).finally(() => setAnswered(false));
  };
  const asked: Asked = { question, answered, answer };
  const message = plain(question.message, maxMessage).trim();
  return (
    <section
      class={answered ? 'question answered' : 'question'}
      role="group"
      aria-busy={answered}
      aria-label={announcement(question, program)}
      onKeyDown={(e) => {
        if (e.key !== 'Escape' || e.isComposing) return;
        e.stopPropagation();
        answer({ cancelled: true });
      }}
    >
      <header>
        <Icon name="question" />
        <span class="title" dir="auto">
          {plain(question.title, maxTitle) || t('An extension of {0} asks:', program)}
        </span>
        {question.of > 1 && <span class="quiet">{t('{0} of {1}', question.number, question.of)}</span>}
        {question.until > 0 && <Left question={question} />}
        <IconButton
          icon="close"
          label={t('Close without an answer (Escape)')}
          onClick={() => answer({ cancelled: true })}
        />
      </header>
      <div class="question-body">
        {message && (
          <p class="message-text" dir="auto">
            {message}
          </p>
        )}
        {question.method === 'select' && <Options {...asked} />}
        {question.method === 'confirm' && <Confirm {...asked} />}
        {(question.method === 'input' || question.method === 'editor') && <Write {...asked} />}
      </div>
    </section>
  );
}

/**
 * Keeps the focus: when a question that has it is removed, the next one gets it, or else the composer. The box is
 * looked at before it is changed.
 */
function useFocusKept(id: string | undefined): { current: HTMLDivElement | null } {
  const page = usePage();
  const box = useRef<HTMLDivElement>(null);
  const was = useRef(id);
  const had = useRef(false);
  if (was.current !== id) had.current = box.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    const focused = was.current !== id && had.current;
    was.current = id;
    if (!focused) return;
    const card = box.current?.querySelector('.question-body');
    const next = card?.querySelector<HTMLElement>('input,textarea,button');
    if (next) next.focus();
    else page.backToComposer();
  }, [id, page]);
  return box;
}

export function Questions(): JSX.Element | null {
  const page = usePage();
  const questions = useChat((s) => s.view.questions);
  const program = useChat((s) => engineName(s.view.engine));
  const first = questions[0];
  const box = useFocusKept(first?.id);
  const announced = useRef('');
  useEffect(() => {
    if (first && announced.current !== first.id) page.speak(announcement(first, program));
    announced.current = first?.id ?? '';
  }, [first, page, program]);
  if (!first) return null;
  return (
    <div class="questions" ref={box}>
      <Card key={first.id} question={first} />
      {questions.length > 1 && (
        <p class="quiet">
          {questions.length === 2
            ? t('1 more question is waiting.')
            : t('{0} more questions are waiting.', questions.length - 1)}
        </p>
      )}
    </div>
  );
}
