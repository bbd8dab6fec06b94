import type { ListResult, Problem, SessionInfo, Team, TeamStatus } from '../wire.gen';

/** A session that is in the team's store. It may have a file on this machine, too. */
export type TeamInfo = SessionInfo & { readonly team: Team };

/** The section of the team's store. It has one group per user. */
export interface TeamNode {
  readonly kind: 'team';
  readonly id: string;
  readonly children: readonly (TeamProblemNode | TeamUserNode)[];
}

/** Why the section can be out of date, or that it is empty. */
export interface TeamProblemNode {
  readonly kind: 'teamProblem';
  readonly id: string;
  /** The server's sentence, "" if the store has no sessions of the project. */
  readonly message: string;
  readonly children: readonly [];
}

export interface TeamUserNode {
  readonly kind: 'teamUser';
  readonly id: string;
  readonly owner: string;
  readonly children: readonly TeamSessionNode[];
}

export interface TeamSessionNode {
  readonly kind: 'teamSession';
  readonly id: string;
  readonly info: TeamInfo;
  /** The window's folder in whose project it is. */
  readonly cwd: string;
  readonly children: readonly [];
}

/** The sessions of a folder's project. */
export interface Listed {
  readonly cwd: string;
  readonly list: Pick<ListResult, 'sessions' | 'problems'>;
}

/** The problems of a list that are about the store. */
const ofStore: readonly string[] = ['offline', 'refused', 'denied'];

/** Returns the section, grouped by the users who sent the sessions; those with the newest session first. */
export function teamNode(listed: readonly Listed[], searching: boolean): TeamNode | undefined {
  const users = new Map<string, TeamSessionNode[]>();
  const seen = new Set<string>();
  for (const { cwd, list } of listed) {
    for (const info of list.sessions ?? []) {
      if (!isInTeam(info) || seen.has(info.team.sid)) {
        continue;
      }
      seen.add(info.team.sid);
      const node: TeamSessionNode = { kind: 'teamSession', id: `team:${info.team.sid}`, info, cwd, children: [] };
      users.set(info.team.owner, [...(users.get(info.team.owner) ?? []), node]);
    }
  }
  const problem = listed.flatMap(({ list }) => list.problems ?? []).find(({ kind }) => ofStore.includes(kind));
  if (searching && users.size === 0) {
    return undefined;
  }
  return {
    kind: 'team',
    id: 'team',
    children: [
      ...(problem || users.size === 0 ? [problemNode(problem)] : []),
      ...[...users].map(([owner, children]): TeamUserNode => ({
        kind: 'teamUser',
        id: `team-user:${owner}`,
        owner,
        children,
      })),
    ],
  };
}

function problemNode(problem: Problem | undefined): TeamProblemNode {
  return { kind: 'teamProblem', id: 'team-problem', message: problem?.message ?? '', children: [] };
}

export function isInTeam(info: SessionInfo): info is TeamInfo {
  return typeof info.team?.sid === 'string';
}

/** Returns the device that writes a session, "" if none does or the session is live in this window. */
export const otherWriter = ({ live, team }: TeamInfo): string => (live ? '' : (team.writer ?? ''));

/** Returns the context value for menus: "team remote writing". */
export function teamContext({ info }: TeamSessionNode): string {
  const { team } = info;
  return ['team', team.remote ? 'remote' : 'local', otherWriter(info) ? 'writing' : '', team.deleted ? 'deleted' : '']
    .filter((word) => word !== '')
    .join(' ');
}

/** Returns the arrows before the description: ↑ for lines that are not sent yet, ↓ for lines that the file lacks. */
export function arrows({ unsent, newer }: Team): string {
  return `${unsent ? '↑' : ''}${newer ? '↓' : ''}`;
}

/** How the status bar shows the store. */
export interface TeamLight {
  readonly icon: 'cloud-upload' | 'debug-disconnect' | 'error';
  readonly problem: '' | 'offline' | 'refused';
  readonly unsent: number;
}

/** Returns what the status bar shows, undefined if everything is sent or nothing is shared. */
export function lightOf(status: Pick<TeamStatus, 'state' | 'unsentSessions'> | undefined): TeamLight | undefined {
  switch (status?.state) {
    case 'offline':
      return { icon: 'debug-disconnect', problem: 'offline', unsent: status.unsentSessions };
    case 'refused':
      return { icon: 'error', problem: 'refused', unsent: status.unsentSessions };
    case 'ok':
      return status.unsentSessions > 0
        ? { icon: 'cloud-upload', problem: '', unsent: status.unsentSessions }
        : undefined;
    default:
      return undefined;
  }
}

/** Returns the id of a session from the address of its document, undefined for another address. */
export function followedSid(uri: string): string | undefined {
  return /^xcsh-team:\/+([A-Za-z0-9_-]{1,64})\.md$/.exec(uri)?.[1];
}
