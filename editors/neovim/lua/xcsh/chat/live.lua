-- Applies one event of the server to the state of a chat.

local engine = require('xcsh.engine')
local foreign = require('xcsh.foreign')
local items = require('xcsh.chat.items')
local wire = require('xcsh.wire')

local M = {}

local max_notices = 5

---@param s xcsh.chat.State
---@param text string
---@param is_error? boolean
function M.notice(s, text, is_error)
  if text ~= '' then
    s.notices[#s.notices + 1] = { error = is_error or false, text = text }
    if #s.notices > max_notices then
      table.remove(s.notices, 1)
    end
  end
end

---The notices that arrived since the last turn.
---@type table<xcsh.chat.Notice, boolean>
local early = setmetatable({}, { __mode = 'k' })

---Returns the notices that stay when a turn begins: the server says before it what it has not sent
---with the prompt.
---@param notices xcsh.chat.Notice[]
local function about_this_turn(notices)
  local kept = vim.tbl_filter(function(notice)
    return early[notice] == true
  end, notices)
  for _, notice in ipairs(kept) do
    early[notice] = nil
  end
  return kept
end

---Appends a streamed piece to an answer.
---@param content table[]
---@param update table
local function extend(content, update)
  local at = wire.num(update.contentIndex) + 1
  if at > #content + 1000 then
    return -- an implausible index
  end
  while #content < at do
    content[#content + 1] = { type = '' }
  end
  local block, kind, delta = content[at], update.type, wire.str(update.delta)
  if kind == 'text_delta' then
    block.type, block.text = 'text', wire.str(block.text) .. delta
  elseif kind == 'thinking_delta' then
    block.type, block.thinking = 'thinking', wire.str(block.thinking) .. delta
  elseif kind == 'toolcall_start' then
    content[at] = { type = 'toolCall', id = wire.str(update.toolCallId), name = update.toolName }
  elseif kind == 'toolcall_delta' then
    block.partialJson = wire.str(block.partialJson) .. delta
  elseif type(update.block) == 'table' and next(update.block) then
    content[at] = update.block
  end
end

---Adds the usage of an answer to that of the session.
---@param s xcsh.chat.State
---@param message table
local function count(s, message)
  -- The sum is unknown while the session is being read.
  local usage, sum = wire.tbl(message.usage), s.session and wire.tbl(s.session.usage) or {}
  sum.totalTokens = wire.num(sum.totalTokens) + wire.num(usage.totalTokens)
  sum.cost = wire.num(sum.cost) + wire.num(wire.tbl(usage.cost).total)
  local window = wire.num(s.context.contextWindow)
  if wire.num(usage.totalTokens) > 0 then
    s.context.tokens = usage.totalTokens
    s.context.percent = window > 0 and 100 * usage.totalTokens / window or nil
  end
end

---Attaches the pending approvals to their calls. Another program can request one before the event
---that shows its call.
---@param s xcsh.chat.State
local function approve_again(s)
  if #s.approvals > 0 then
    items.approve(s.items, {}, s.approvals)
  end
end

---@param s xcsh.chat.State
---@param event table
local function message_end(s, event)
  local message, entry_id = wire.tbl(event.message), wire.str(event.entryId)
  -- A snapshot can contain an entry before its event arrives, and later entries.
  local known = entry_id ~= '' and items.has_entry(s.items, entry_id)
  items.finish(s.items, entry_id, message)
  local added = s.items[#s.items]
  if not known and added and added.message == message and wire.str(event.typed) ~= '' then
    added.typed = wire.str(event.typed)
  end
  approve_again(s)
  if s.session and entry_id ~= '' and not known then
    s.session.leafId = entry_id
  end
  if message.role == 'assistant' then
    if not known then
      count(s, message)
    end
  elseif items.is_plan(message) then
    s.todos = items.todos(wire.tbl(message.details).phases)
  end
end

---Returns what a turn did to files; nil if nothing is known of it.
---@param changes any
---@return xcsh.chat.Card?
function M.card(changes)
  changes = wire.tbl(changes)
  local unseen = #wire.tbl(changes.limits) > 0
  if wire.num(changes.files) == 0 then
    return nil
  end
  return {
    files = wire.num(changes.files),
    added = wire.num(changes.added),
    removed = wire.num(changes.removed),
    unseen = unseen,
  }
end

---@param s xcsh.chat.State
---@param event table
local function agent_end(s, event)
  items.drop_live(s.items)
  items.stop(s.items)
  s.running, s.retry = false, nil
  s.queues = { steering = {}, followUp = {} }
  s.card = M.card(event.changes)
  -- A failed answer contains its error. A notice shows another one, such as why there is no retry.
  local last = s.items[#s.items]
  local reported = last and wire.str(last.message.errorMessage) == wire.str(event.errorMessage)
  if event.stopReason ~= 'aborted' and not reported then
    M.notice(s, wire.str(event.errorMessage), true)
  end
end

---Returns the retry of an event or of a snapshot.
---@param value table
function M.retry(value)
  return {
    attempt = wire.num(value.attempt),
    maxAttempts = wire.num(value.maxAttempts),
    delayMs = wire.num(value.delayMs),
    message = wire.str(value.errorMessage),
  }
end

---Returns the background commands of an event or of a snapshot.
---@param value any
---@return { id: string, command: string }[]
function M.background(value)
  return vim.tbl_map(function(command)
    command = wire.tbl(command)
    return { id = wire.str(command.id), command = wire.str(command.command) }
  end, wire.tbl(value))
end

---@class xcsh.chat.Failure
---@field message string
---@field details string the last lines of the program's error output

---More questions, and more texts beside the conversation, than these are not kept.
local max_questions, max_statuses = 100, 10

---Takes the engine and its questions from a snapshot, which does not have the details of a failure.
---@param s xcsh.chat.State
---@param questions table[]
function M.of_engine(s, questions)
  local now = s.session.engine
  if not now or now.state ~= 'failed' then
    s.failure = nil
  elseif not s.failure or s.failure.message ~= now.message then
    s.failure = { message = now.message, details = '' }
  end
  if not engine.is_open(now) and (now or {}).state ~= 'starting' then
    s.statuses = {}
  end
  questions = vim.tbl_filter(function(question)
    return type(question) == 'table'
  end, questions)
  s.questions = vim.list_slice(questions, 1, max_questions)
end

---@param s xcsh.chat.State
---@param event table
local function engine_changed(s, event)
  if not s.session then
    return
  end
  local before = s.session.engine
  local now = engine.after(before, event)
  s.session.engine = now
  s.failure = nil
  if now.state == 'failed' then
    s.failure = { message = now.message, details = wire.str(event.details) }
  end
  if not engine.is_open(now) or not before or before.name ~= now.name then
    s.statuses = {}
  end
  if now.state == 'failed' or now.state == 'known' then
    s.questions = {}
  end
end

---Reports whether the engine is open, but what it can do is unknown, because only a state says it.
---@param s xcsh.chat.State
function M.needs_state(s)
  local now = s.session and s.session.engine
  return now ~= nil and engine.is_open(now) and not now.can
end

---Takes what the engine can do, and its model, from a state.
---@param s xcsh.chat.State
---@param state table
function M.opened(s, state)
  local now = engine.of_state(state.engine)
  if M.needs_state(s) and now and now.name == s.session.engine.name then
    s.session.engine.can = now.can or {}
    s.session.model = wire.tbl(state.model)
    s.session.thinkingLevel = wire.str(state.thinkingLevel)
  end
end

---@param s xcsh.chat.State
---@param event table
local function engine_status(s, event)
  local key, lines = wire.str(event.key), wire.texts(event.lines)
  local at = #s.statuses + 1
  for i, status in ipairs(s.statuses) do
    at = status.key == key and i or at
  end
  if #lines == 0 then
    table.remove(s.statuses, at)
  elseif at <= max_statuses then
    s.statuses[at] = { key = key, lines = lines }
  end
end

---@param s xcsh.chat.State
---@param id string
local function drop_question(s, id)
  s.questions = vim.tbl_filter(function(question)
    return question.id ~= id
  end, s.questions)
end

---@type table<string, fun(s: xcsh.chat.State, event: table)>
local apply = {
  engine_changed = engine_changed,
  engine_status = engine_status,
  question_asked = function(s, event)
    drop_question(s, event.id)
    if #s.questions < max_questions then
      table.insert(s.questions, event)
    end
  end,
  question_gone = function(s, event)
    drop_question(s, event.id)
  end,
  agent_start = function(s)
    s.running, s.retry, s.card = true, nil, nil
    s.notices, s.notes = about_this_turn(s.notices), {}
  end,
  agent_end = agent_end,
  turn_start = function(s)
    s.running = true
    if s.retry then
      s.retry.delayMs = 0
    end
  end,
  message_start = function(s, event)
    local message = wire.tbl(event.message)
    if message.role == 'assistant' then
      -- The retry ends with the first piece of an answer: this attempt may fail, too.
      items.drop_live(s.items)
      items.retried(s.items)
      if type(message.content) ~= 'table' then
        message.content = {}
      end
      s.items[#s.items + 1] = items.new('', message, true)
    end
  end,
  message_update = function(s, event)
    local last = s.items[#s.items]
    if last and last.live then
      s.retry = nil
      local message = last.message
      message.content = wire.tbl(message.content)
      extend(message.content, wire.tbl(event.assistantMessageEvent))
      items.set_message(last, message)
    end
  end,
  message_end = message_end,
  tool_execution_start = function(s, event)
    items.with_call(s.items, wire.str(event.toolCallId), function(call)
      -- Another program reports the start of a call before the user has allowed it.
      call.status = call.approval and 'asking' or 'running'
    end)
    approve_again(s)
  end,
  tool_execution_update = function(s, event)
    items.with_call(s.items, wire.str(event.toolCallId), function(call)
      if not call.entryId then
        call.output = wire.tbl(event.partialResult)
      end
    end)
  end,
  tool_execution_end = function(s, event)
    items.with_call(s.items, wire.str(event.toolCallId), function(call)
      if not call.entryId then
        call.status = event.isError == true and 'failed' or 'done'
        call.output = wire.tbl(event.result)
      end
    end)
  end,
  approvals_changed = function(s, event)
    s.approvals = items.approve(s.items, s.approvals, wire.tbl(event.approvals))
  end,
  background_changed = function(s, event)
    s.background = M.background(event.running)
  end,
  queue_changed = function(s, event)
    s.queues = { steering = wire.texts(event.steering), followUp = wire.texts(event.followUp) }
  end,
  model_changed = function(s, event)
    local role = wire.str(event.role)
    if s.session and (role == '' or role == 'default') then
      s.session.model = wire.tbl(event.model)
    end
  end,
  thinking_level_changed = function(s, event)
    if s.session then
      s.session.thinkingLevel = wire.str(event.thinkingLevel)
    end
  end,
  approval_mode_changed = function(s, event)
    if s.session then
      s.session.approvalMode = wire.str(event.mode)
    end
  end,
  mode_changed = function(s, event)
    if s.session and type(event.mode) == 'string' then
      s.session.mode = event.mode
    end
  end,
  session_info_changed = function(s, event)
    if s.session then
      s.session.title = wire.str(event.name)
    end
  end,
  auto_retry_start = function(s, event)
    s.retry = M.retry(event)
    items.retried(s.items)
  end,
  auto_retry_end = function(s, event)
    s.retry = nil
    if event.success ~= true then
      items.not_retried(s.items)
    end
  end,
  auto_compaction_start = function(s)
    s.compacting = true
  end,
  auto_compaction_end = function(s, event)
    s.compacting = false
    if event.aborted ~= true then
      M.notice(s, wire.str(event.errorMessage), true)
    end
  end,
  bash_execution_update = function(s, event)
    s.bash = wire.str(event.text)
  end,
  bash_execution_end = function(s, event)
    s.bash = nil
    if wire.str(event.entryId) ~= '' then
      message_end(s, event)
    end
  end,
  persistence_error = function(s, event)
    if s.session then
      s.session.unsaved = wire.str(event.errorMessage)
    end
    M.notice(s, wire.str(event.errorMessage), true)
  end,
  rewound = function(s)
    s.interrupted = false
  end,
  foreign_branch = function(s, event)
    s.foreign = foreign.of(event)
  end,
  notice = function(s, event)
    M.notice(s, wire.str(event.text), event.level == 'error')
    local newest = s.notices[#s.notices]
    if newest and not s.running and not newest.error then
      early[newest] = true
    end
  end,
  error = function(s, event)
    M.notice(s, wire.str(event.errorMessage), true)
  end,
}

---Applies an event. Unknown events are ignored.
---@param s xcsh.chat.State
---@param event table
function M.apply(s, event)
  local change = apply[wire.str(event.type)]
  if change then
    change(s, event)
  end
end

---Reports whether an event changes the conversation in a way that requires a snapshot.
---@param event table
function M.needs_snapshot(event)
  if event.type == 'bash_execution_end' then
    return wire.str(event.entryId) == ''
  end
  return event.type == 'auto_compaction_end'
    and event.aborted ~= true
    and wire.str(event.errorMessage) == ''
end

return M
