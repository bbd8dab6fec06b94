import type { ApprovalPrompt, EventParams } from '../wire.gen';
import type { Approvals } from './approvals';

/** Returns the pending approvals that the panel asks for. The thread of a request in the text asks for the others. */
export function ownApprovals<P extends Pick<ApprovalPrompt, 'id'>>(
  approvals: Pick<Approvals, 'isElsewhere'>,
  cwd: string,
  pending: readonly P[],
): P[] {
  return pending.filter(({ id }) => !approvals.isElsewhere(cwd, id));
}

/** Returns an event as the panel gets it: without approvals that a thread in the text asks for. */
export function withoutElsewhere(approvals: Pick<Approvals, 'isElsewhere'>, params: EventParams): EventParams {
  const { cwd, event } = params;
  if (event.type !== 'approvals_changed') {
    return params;
  }
  return { ...params, event: { ...event, approvals: ownApprovals(approvals, cwd, event.approvals) } };
}
