import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Reader } from '../../src/chat/reader';
import { Following } from '../../src/chat/following';
import type { Host } from '../../src/host';
import { handlingOf } from '../../src/palette/remedies';
import { ServerError } from '../../src/server/errors';
import { isFollowed } from '../../src/server/showing';
import { askConsent, type Answer } from '../../src/team/consent';
import { arrows, followedSid, lightOf, otherWriter, teamContext, teamNode, type TeamInfo } from '../../src/team/model';
import type { SessionInfo, Team, TeamShareArgs, TeamShareResult } from '../../src/wire.gen';

function shared(sid: string, owner: string, team: Partial<Team> = {}, more: Partial<SessionInfo> = {}): TeamInfo {
  const path = team.remote ? '' : `/s/${sid}.jsonl`;
  const own = { sid, owner, variant: 0, visible: 'team', ...team };
  return { id: `h-${sid}`, path, name: sid, live: false, ...more, team: own } as TeamInfo;
}

test('the section groups the sessions of all folders by user, each session once', () => {
  const node = teamNode(
    [
      {
        cwd: '/a',
        list: {
          sessions: [
            shared('1', 'Kim'),
            { id: 'x', path: '/s/x' } as SessionInfo,
            shared('2', 'Ann'),
            shared('3', 'Kim'),
          ],
          problems: null,
        },
      },
      { cwd: '/b', list: { sessions: [shared('1', 'Kim'), shared('4', 'Lee')], problems: [] } },
    ],
    false,
  );
  assert.deepEqual(
    node?.children.map((user) => [user.kind === 'teamUser' && user.owner, user.children.map((s) => [s.id, s.cwd])]),
    [
      [
        'Kim',
        [
          ['team:1', '/a'],
          ['team:3', '/a'],
        ],
      ],
      ['Ann', [['team:2', '/a']]],
      ['Lee', [['team:4', '/b']]],
    ],
  );
});

test('without the network, one line says so above the sessions that were seen last', () => {
  const problems = [
    { kind: 'unreadable', message: 'other' },
    { kind: 'offline', message: 'The team store cannot be reached.' },
  ];
  const list = { sessions: [shared('1', 'Kim')], problems } as never;
  const node = teamNode(
    [
      { cwd: '/a', list },
      { cwd: '/b', list },
    ],
    false,
  );
  assert.deepEqual(
    node?.children.map((child) => (child.kind === 'teamProblem' ? child.message : child.owner)),
    ['The team store cannot be reached.', 'Kim'],
  );
  const none = { cwd: '/a', list: { sessions: [], problems: [] } };
  assert.deepEqual(
    teamNode([none], false)?.children.map(({ kind }) => kind),
    ['teamProblem'],
  );
  assert.equal(teamNode([none], true), undefined, 'a search without a hit has no section');
});

test('the lines show what is not sent, what is newer, and what another device writes', () => {
  assert.equal(arrows(shared('1', 'Kim', { unsent: 3 }).team), '↑');
  assert.equal(arrows(shared('1', 'Kim', { newer: 3 }).team), '↓');
  assert.equal(arrows(shared('1', 'Kim').team), '');
  const written = shared('1', 'Kim', { writer: 'devbox', remote: true });
  assert.equal(otherWriter(written), 'devbox');
  assert.equal(otherWriter({ ...written, live: true }), '', 'this window writes it');
  const node = { kind: 'teamSession', id: 'team:1', info: written, cwd: '/a', children: [] } as const;
  assert.equal(teamContext(node), 'team remote writing');
  assert.equal(teamContext({ ...node, info: shared('1', 'Kim', { deleted: true }) }), 'team local deleted');
});

test('the status bar shows unsent sessions and problems, and nothing else', () => {
  const of = (state: string, unsentSessions: number) => lightOf({ state, unsentSessions });
  assert.equal(lightOf(undefined), undefined);
  assert.equal(of('off', 3), undefined);
  assert.equal(of('ok', 0), undefined);
  assert.deepEqual(of('ok', 3), { icon: 'cloud-upload', problem: '', unsent: 3 });
  assert.deepEqual(of('offline', 0), { icon: 'debug-disconnect', problem: 'offline', unsent: 0 });
  assert.deepEqual(of('refused', 1), { icon: 'error', problem: 'refused', unsent: 1 });
});

/** A desk with a user who gives these answers, and a server with these answers to carrying out. */
function desk(answers: (Answer | undefined)[], deeds: (ServerError | string)[] = ['new'], more: object = {}) {
  const calls: string[] = [];
  const asked: [string, readonly Answer[]][] = [];
  let plans = 0;
  return {
    calls,
    asked,
    share: (args: TeamShareArgs, { scope, planToken }: TeamShareArgs): Promise<TeamShareResult> => {
      assert.equal(args.planToken, undefined);
      calls.push(planToken === undefined ? `plan ${scope}` : `carry out ${scope} ${planToken}`);
      if (planToken === undefined) {
        const own = { server: 'db', readers: 2, older: 1, examples: ['github in a.jsonl'] };
        return Promise.resolve({ ...own, text: `Send ${scope}?`, planToken: `token ${++plans}`, ...more });
      }
      const deed = deeds.shift();
      return typeof deed === 'string' ? Promise.resolve({ shared: deed }) : Promise.reject(deed);
    },
    ask: (text: string, offered: readonly Answer[]): Promise<Answer | undefined> => {
      asked.push([text, offered]);
      return Promise.resolve(answers.shift());
    },
    nothingReplaced: () => 'Nothing.',
    changed: () => void calls.push('changed'),
  };
}

test('the plan that the user has seen is carried out, and none without an answer', async () => {
  const yes = desk(['new']);
  assert.equal(await askConsent(yes, { cwd: '/a' }), 'new');
  assert.deepEqual(yes.calls, ['plan new', 'carry out new token 1']);
  assert.deepEqual(yes.asked, [['Send new?', ['new', 'all', 'replaced']]]);

  const no = desk([undefined]);
  assert.equal(await askConsent(no, { cwd: '/a' }), undefined);
  assert.deepEqual(no.calls, ['plan new']);

  const looked = desk(['replaced', undefined]);
  assert.equal(await askConsent(looked, { cwd: '/a' }), undefined);
  assert.deepEqual(looked.asked[1], ['Send new?\n\n• github in a.jsonl', ['new', 'all']]);
  assert.deepEqual(looked.calls, ['plan new']);

  const single = desk(['session'], ['session']);
  assert.equal(await askConsent(single, { scope: 'session', source: '/s/a.jsonl' }), 'session');
  assert.deepEqual(single.asked[0]?.[1], ['session', 'replaced']);

  const nothing = desk(['replaced', 'new'], ['new'], { older: 0, examples: [] });
  await askConsent(nothing, {});
  assert.deepEqual(nothing.asked[1], ['Send new?\n\nNothing.', ['new']]);
});

test('the older conversations are sent, too, if nothing else of the plan is different', async () => {
  const all = desk(['all'], ['all']);
  assert.equal(await askConsent(all, {}), 'all');
  assert.deepEqual(all.calls, ['plan new', 'plan all', 'carry out all token 2']);

  const other = desk(['all', undefined]);
  const share = other.share.bind(other);
  other.share = async (args, more) => ({
    ...(await share(args, more)),
    ...(more.scope === 'all' ? { readers: 9 } : {}),
  });
  assert.equal(await askConsent(other, {}), undefined);
  assert.deepEqual(other.calls, ['plan new', 'plan all', 'changed', 'plan all'], 'the user is asked again');
});

test('a stale plan leads to a new question', async () => {
  const stale = () => new ServerError('stale', 'stale');
  const once = desk(['new', 'new'], [stale(), 'new']);
  assert.equal(await askConsent(once, {}), 'new');
  assert.deepEqual(once.calls, ['plan new', 'carry out new token 1', 'changed', 'plan new', 'carry out new token 2']);

  const always = desk(
    Array.from({ length: 20 }, () => 'new' as const),
    Array.from({ length: 20 }, stale),
  );
  await assert.rejects(askConsent(always, {}), { kind: 'stale' });
  await assert.rejects(askConsent(desk(['new'], [new ServerError('no', 'refused')]), {}), { kind: 'refused' });
});

test('only the document of a followed session is shown by the chat', () => {
  assert.equal(followedSid('xcsh-team:/0a-b_9.md'), '0a-b_9');
  assert.equal(followedSid('xcsh-team:///0a.md'), '0a');
  for (const other of ['xcsh-team:/../x.md', 'xcsh-team:/a/b.md', 'file:///a.md', `xcsh-team:/${'a'.repeat(65)}.md`]) {
    assert.equal(followedSid(other), undefined, other);
  }
  assert.equal(isFollowed({ uri: 'xcsh-team:/0a.md' }), true);
  assert.equal(isFollowed({ uri: 'xcsh:/s/a.jsonl.md' }), false);
});

test('a followed session is read from the server, and says who writes it', async () => {
  const asked: unknown[] = [];
  const follow = { sid: '0a', owner: 'Kim', device: 'devbox' };
  const info = { path: 'xcsh-team:/0a.md', id: 'h', name: 'A plan', cwd: '/w' };
  const reader = new Reader({ info, cwd: '/w', state: 'followed', follow }, (command, args) => {
    asked.push([command, args['source']]);
    return Promise.resolve({ messages: [], total: 0 });
  });
  await reader.answer('xcsh.snapshot', { last: 10 }, undefined);
  assert.deepEqual(asked, [['xcsh.messages', 'xcsh-team:/0a.md']]);
  assert.deepEqual(reader.reading('panel'), {
    path: 'xcsh-team:/0a.md',
    name: 'A plan',
    place: 'panel',
    state: 'followed',
    by: 'Kim · devbox',
  });
});

test('a session is followed once while it is shown, and after a failure again', async () => {
  const calls: unknown[] = [];
  let failing = true;
  const host = {
    status: { kind: 'running' },
    output: { info: () => undefined },
    request: (_: string, { source, stop }: { source: string; stop?: boolean }) => {
      calls.push([source, stop ?? false]);
      return failing ? Promise.reject(new Error('offline')) : Promise.resolve({});
    },
  } as unknown as Host;
  const following = new Following(host, '/w', '0a');
  await assert.rejects(following.begin());
  following.end(); // it is not followed
  failing = false;
  await Promise.all([following.begin(), following.begin()]);
  following.end();
  following.dispose();
  await following.begin();
  assert.deepEqual(calls, [
    ['0a', false],
    ['0a', false],
    ['0a', true],
    ['0a', false],
  ]);
});

test('an error of the store does not offer to stop a turn', () => {
  const written = new ServerError('Kim writes', 'busy', { owner: 'Kim', device: 'devbox' });
  assert.deepEqual(handlingOf(written, 'xcsh.prompt')?.remedies, ['tryAgain']);
  assert.deepEqual(handlingOf(new ServerError('no', 'refused'))?.remedies, ['settings']);
  assert.deepEqual(handlingOf(new ServerError('no', 'offline'))?.remedies, []);
});
