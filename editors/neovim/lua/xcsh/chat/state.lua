-- The state of a chat as a function of the server's notifications; this file does not call the
-- editor. Notifications are numbered without gaps per session. Duplicates are ignored. A gap or
-- another live session requires a snapshot; notifications that arrive meanwhile are held and
-- applied to the snapshot.
--
-- States are modified in place. An item gets a higher rev with every visible change, so that
-- rendering code need not compare texts.

local engine = require('xcsh.engine')
local foreign = require('xcsh.foreign')
local items = require('xcsh.chat.items')
local live = require('xcsh.chat.live')
local notes = require('xcsh.chat.notes')
local pages = require('xcsh.chat.pages')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.chat.Sync how the state follows the server
---@field running boolean the server is running, or assumed to be
---@field live boolean the state is up to date with event seq
---@field asked integer number of the pending snapshot request, or 0
---@field failed string error of the last request
---@field sessionId string
---@field seq integer
---@field held table[] notifications received while a snapshot was pending
---@field expect? { sessionId: string, seq: integer } minimum version of the next snapshot
---@field left table<string, boolean> sessions that were live earlier

---@class xcsh.chat.State
---@field sync xcsh.chat.Sync
---@field session? xcsh.State
---@field items xcsh.chat.Item[] the newest messages
---@field before integer number of messages before them
---@field cursor? string of the page before them
---@field past? xcsh.chat.Part older messages, apart from the newest
---@field epoch table changes when the pages in the chat no longer fit the conversation
---@field fresh boolean the next snapshot replaces everything
---@field page_failed string error of the last page, until the next one
---@field running boolean
---@field compacting boolean
---@field queues { steering: string[], followUp: string[] }
---@field approvals table[]
---@field background { id: string, command: string }[]
---@field todos { name: string, todos: { text: string, status: string, blocker: string }[] }[]
---@field context { tokens: number, contextWindow: number, percent: number }
---@field retry? { attempt: number, maxAttempts: number, delayMs: number, message: string }
---@field foreign? xcsh.Foreign another program continued there
---@field bash? string output so far of a shell command of the user
---@field notes xcsh.chat.Note[]
---@field notices xcsh.chat.Notice[]
---@field questions table[] of the engine's extensions, oldest first
---@field statuses { key: string, lines: string[] }[] of the engine's extensions
---@field failure? xcsh.chat.Failure why the engine ended
---@field card? xcsh.chat.Card what the last turn did to files
---@field interrupted boolean a rewind was interrupted and is not completed yet

---@class xcsh.chat.Notice
---@field error boolean
---@field text string

---@class xcsh.chat.Card
---@field files integer
---@field added integer lines
---@field removed integer lines
---@field unseen boolean not all that the turn did is known

---@return xcsh.chat.State
function M.new()
  return {
    sync = {
      running = true,
      live = false,
      asked = 0,
      failed = '',
      sessionId = '',
      seq = 0,
      held = {},
      left = {},
    },
    items = {},
    before = 0,
    epoch = {},
    interrupted = false,
    fresh = false,
    page_failed = '',
    running = false,
    compacting = false,
    queues = { steering = {}, followUp = {} },
    approvals = {},
    background = {},
    todos = {},
    context = { tokens = 0, contextWindow = 0, percent = 0 },
    notices = {},
    notes = {},
    questions = {},
    statuses = {},
  }
end

---Reports whether a snapshot must be requested now.
---@param s xcsh.chat.State
function M.wants_snapshot(s)
  local sync = s.sync
  return sync.running and not sync.live and sync.asked == 0 and sync.failed == ''
end

---@param s xcsh.chat.State
---@param n table
local function hold(s, n)
  local sync = s.sync
  if n.event then
    sync.held[#sync.held + 1] = n
  elseif n.reason ~= 'shutdown' then
    sync.expect = { sessionId = n.sessionId, seq = n.seq }
  end
end

---Marks the state as stale, which requests a snapshot.
---@param s xcsh.chat.State
---@param n table
local function lose(s, n)
  s.sync.live, s.sync.asked, s.sync.held = false, 0, {}
  hold(s, n)
end

---@param s xcsh.chat.State
---@param n table parameters of xcsh/event or xcsh/sessionChanged
local function notified(s, n)
  local sync = s.sync
  if not sync.running then
    return
  end
  if not sync.live then
    return hold(s, n)
  end
  local same = n.sessionId == sync.sessionId
  if same and n.seq <= sync.seq then
    return
  end
  if n.reason == 'shutdown' then
    s.running = s.running and not same
    return
  end
  if not same and sync.left[n.sessionId] and n.event then
    return
  end
  s.fresh = s.fresh or n.reason == 'reload'
  if not n.event or not same or n.seq ~= sync.seq + 1 then
    return lose(s, n)
  end
  sync.seq = n.seq
  live.apply(s, n.event)
  if live.needs_snapshot(n.event) then
    sync.live = false
  end
end

---@param s xcsh.chat.State
---@param snapshot table
local function view(s, snapshot)
  local state = wire.tbl(snapshot.state)
  local same = s.session ~= nil and s.session.sessionId == state.sessionId
  s.fresh = s.fresh or not same
  pages.begin(s, snapshot, items.of_snapshot(snapshot, same and s.items or {}))
  s.page_failed = ''
  s.session = state
  s.running, s.compacting = state.isStreaming == true, state.isCompacting == true
  local queues = wire.tbl(snapshot.queues)
  s.queues = { steering = wire.texts(queues.steering), followUp = wire.texts(queues.followUp) }
  s.approvals = items.approve(s.items, {}, wire.tbl(snapshot.approvals))
  s.background = live.background(snapshot.background)
  s.todos = items.todos(snapshot.todos)
  s.context = wire.tbl(snapshot.contextUsage)
  s.session.engine = engine.of_state(state.engine)
  live.of_engine(s, wire.tbl(snapshot.questions))
  s.interrupted = wire.tbl(snapshot.changes).interrupted == true
  s.card = same and s.card or nil
  notes.of_session(s, wire.str(state.sessionId))
  if not same then
    s.notices, s.statuses, s.bash = {}, {}, nil
  end
  s.foreign = foreign.of(snapshot.foreignBranch)
  s.retry = type(snapshot.retry) == 'table' and live.retry(snapshot.retry) or nil
  if not s.running then
    items.stop(s.items)
  end
end

---Requests a snapshot with the values that were pending.
---@param s xcsh.chat.State
---@param id string
local function read(s, id)
  local sync = s.sync
  if sync.live and sync.sessionId == id then
    sync.live, sync.held = false, {}
  end
  if not sync.live then
    sync.asked = 0 -- the answer of a pending request can be an early one
  end
end

---Applies held notifications to a snapshot.
---@param s xcsh.chat.State
---@param snapshot table
local function join(s, snapshot)
  local sync = s.sync
  sync.asked = 0
  local id, seq = wire.str(wire.tbl(snapshot.state).sessionId), wire.num(snapshot.seq)
  local expect = sync.expect
  if expect and (expect.sessionId ~= id or expect.seq > seq) then
    return -- it is outdated; another one is requested
  end
  if sync.sessionId ~= '' and sync.sessionId ~= id then
    sync.left[sync.sessionId] = true
  end
  sync.left[id] = nil
  view(s, snapshot)
  local held = sync.held
  sync.live, sync.failed, sync.expect, sync.held = true, '', nil, {}
  sync.sessionId, sync.seq = id, seq
  for _, n in ipairs(held) do
    if n.sessionId == id then
      notified(s, n)
    end
  end
end

---Handles a restart: a new server numbers from 1 and knows nothing about the old one's work.
---@param s xcsh.chat.State
---@param running boolean
local function server(s, running)
  local id = s.sync.sessionId
  s.sync = M.new().sync
  s.sync.running, s.sync.sessionId = running, id
  if running then
    return
  end
  s.running, s.compacting, s.retry, s.bash = false, false, nil, nil
  s.foreign, s.background = nil, {}
  s.questions, s.statuses, s.failure = {}, {}, nil
  s.approvals = items.approve(s.items, s.approvals, {})
  items.drop_live(s.items)
  items.not_retried(s.items)
  items.stop(s.items)
end

---@alias xcsh.chat.ActionType
---| 'notification'
---| 'read' a session that was shown early is read whole
---| 'asked' a snapshot is requested
---| 'snapshot'
---| 'failed' there is no snapshot
---| 'again' request another snapshot
---| 'server' it has started or stopped
---| 'page' a page to be added
---| 'page failed'
---| 'visit' a page to be shown instead of the older messages
---| 'notice'
---| 'note' the answer of a slash command
---| 'state' what the engine can do
---| 'changes' what the last turn did to files, after some of it was undone
---| 'ready' whether a prompt can be answered

---@class xcsh.chat.Action
---@field type xcsh.chat.ActionType
---@field n? table of a notification
---@field request? xcsh.chat.PageRequest
---@field page? table
---@field fresh? boolean
---@field ask? integer
---@field snapshot? table
---@field state? table
---@field changes? table
---@field text? string
---@field result? table
---@field error? boolean
---@field running? boolean

---@param s xcsh.chat.State
---@param action xcsh.chat.Action
function M.reduce(s, action)
  local kind = action.type
  if kind == 'notification' then
    notified(s, action.n)
  elseif kind == 'read' then
    read(s, wire.str(action.n.sessionId))
  elseif kind == 'asked' then
    s.sync.asked, s.sync.failed = action.ask, ''
  elseif kind == 'snapshot' and action.ask == s.sync.asked then
    join(s, action.snapshot)
  elseif kind == 'failed' and action.ask == s.sync.asked then
    s.sync.asked, s.sync.failed = 0, action.text
  elseif kind == 'again' then
    s.sync.failed, s.sync.live = '', false
    s.fresh = s.fresh or action.fresh == true
  elseif kind == 'server' then
    server(s, action.running)
  elseif kind == 'page' and pages.fits(s, action.request) then
    s.page_failed = ''
    pages.add(s, action.request, action.page)
  elseif kind == 'page failed' and pages.fits(s, action.request) then
    s.page_failed = action.text
  elseif kind == 'visit' and s.epoch == action.request.epoch then
    pages.visit(s, action.page)
  elseif kind == 'state' then
    live.opened(s, action.state)
  elseif kind == 'changes' then
    s.card = s.card and live.card(action.changes)
  elseif kind == 'ready' and s.session then
    s.session.ready = wire.tbl(action.state.ready)
    s.session.model = s.session.model or wire.tbl(action.state.model)
  elseif kind == 'notice' then
    live.notice(s, action.text, action.error)
  elseif kind == 'note' then
    notes.add(s, action.result)
  end
end

return M
