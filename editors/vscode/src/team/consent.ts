import { toServerError } from '../server/errors';
import type { TeamShareArgs, TeamShareResult } from '../wire.gen';

/** The answers to the question whether conversations may be sent. */
export type Answer = 'new' | 'all' | 'replaced' | 'session';

/** How the user is asked, and how the server is called. */
export interface ConsentDesk {
  /** Calls xcsh.team.share. Arguments that the server asks for meanwhile are added to args. */
  share(args: TeamShareArgs, more: Pick<TeamShareArgs, 'scope' | 'planToken'>): Promise<TeamShareResult>;
  /** Shows a plan as plain text; undefined if the user does not agree. */
  ask(text: string, answers: readonly Answer[]): Promise<Answer | undefined>;
  /** Returns the text for a plan that replaces nothing. */
  nothingReplaced(): string;
  /** Reports that the plan has changed while the user read it. The user is asked again. */
  changed(): void;
}

/** A plan that is stale each time is not asked about for ever. */
const maxPlans = 5;

/**
 * Asks the user whether conversations may be sent, and carries out the plan that the user has seen. Nothing is sent
 * before. Returns the scope that was set, undefined if the user does not agree.
 */
export async function askConsent(desk: ConsentDesk, args: TeamShareArgs): Promise<string | undefined> {
  let scope = args.scope ?? 'new';
  for (let n = 0; ; n++) {
    const plan = await desk.share(args, { scope });
    const answer = await answerTo(desk, plan, scope);
    if (answer === undefined) {
      return undefined;
    }
    try {
      const agreed = answer === scope ? plan : await sameBut(desk, args, plan, answer);
      if (agreed?.planToken !== undefined) {
        return (await desk.share(args, { scope: answer, planToken: agreed.planToken })).shared;
      }
    } catch (error) {
      if (toServerError(error).kind !== 'stale' || n >= maxPlans) {
        throw error;
      }
    }
    scope = answer;
    desk.changed();
  }
}

/** Asks about a plan until the user has decided. */
async function answerTo(
  desk: ConsentDesk,
  plan: TeamShareResult,
  scope: string,
): Promise<'new' | 'all' | 'session' | undefined> {
  const text = plan.text ?? '';
  const answers = answersTo(scope, plan);
  const answer = await desk.ask(text, [...answers, 'replaced']);
  if (answer !== 'replaced') {
    return answer;
  }
  const again = await desk.ask(`${text}\n\n${replacedText(desk, plan)}`, answers);
  return again === 'replaced' ? undefined : again;
}

/**
 * Returns the plan for another scope if it differs from the one that the user has seen only in its conversations,
 * whose number the user has seen, too. Else the user has to agree to it.
 */
async function sameBut(
  desk: ConsentDesk,
  args: TeamShareArgs,
  seen: TeamShareResult,
  scope: string,
): Promise<TeamShareResult | undefined> {
  const plan = await desk.share(args, { scope });
  const same = (['server', 'user', 'tls', 'team', 'project', 'readers'] as const).every((k) => plan[k] === seen[k]);
  return same ? plan : undefined;
}

/** Returns the answers that carry out a plan, the one that it describes first. */
function answersTo(scope: string, plan: TeamShareResult): Answer[] {
  if (scope === 'session') {
    return ['session'];
  }
  return scope === 'all' ? ['all', 'new'] : ['new', ...((plan.older ?? 0) > 0 ? (['all'] as const) : [])];
}

/** Lists examples of the replaced texts. */
function replacedText(desk: ConsentDesk, plan: TeamShareResult): string {
  const examples = plan.examples ?? [];
  return examples.length > 0 ? examples.map((example) => `• ${example}`).join('\n') : desk.nothingReplaced();
}
