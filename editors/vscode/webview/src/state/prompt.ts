// The user's prompts: what the user typed, and the text that was made of it.

import { userMessageOf } from './userMessage';
import type { UserMessage } from './userMessage';
import { obj, str } from './wire';
import type { StoredMessage } from './wire';

/** A message of the conversation, and what the user typed if the message was made of it. */
export interface Said {
  message: StoredMessage;
  typed?: string;
}

/** The words of a prompt. made is the text of a skill or template, if the words are only its name and arguments. */
export interface Prompt extends UserMessage {
  made?: string;
}

const isSkill = (m: StoredMessage) =>
  m.role === 'custom' && m['customType'] === 'skill-prompt' && m['display'] !== false;

/** Reports whether a message is a prompt of the user. xcsh and oh-my-pi record an invoked skill with a type of its own. */
export const isPrompt = (m: StoredMessage) => m.role === 'user' || isSkill(m);

/** The form in which pi records an invoked skill. */
const skillOfPi = /^<skill name="([^"\n]+)" location="[^"\n]*">\n[^]*\n<\/skill>(?:\n\n([^]*))?$/;

function typedIn(m: StoredMessage, text: string): string {
  const command = (name: string, args: string) => (name ? `/skill:${name} ${args}`.trim() : '');
  if (isSkill(m)) {
    const { prompt, name, args } = obj(m['details']);
    return str(prompt) || command(str(name), str(args));
  }
  const pi = text.startsWith('<skill ') ? skillOfPi.exec(text) : null;
  return pi ? command(pi[1]!, pi[2] ?? '') : '';
}

/** Returns the words of a prompt. */
export function promptOf({ message, typed = '' }: Said): Prompt {
  const { files, text } = userMessageOf(message.content);
  const words = typed || typedIn(message, text);
  return words ? { files, text: words, made: text } : { files, text };
}
