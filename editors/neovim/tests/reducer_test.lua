-- The fixtures in testdata/reducer, which the VS Code panel's reducer runs too. Their README
-- describes the steps; the expected states are written by the TypeScript test.

local runner = require('runner')
local case = runner.case

local tests = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
local dir = vim.fs.normalize(tests .. '/../../../testdata/reducer')

---Removes nulls, so that null, absent and, in older releases, dropped members compare equal.
local function without_null(value)
  if type(value) ~= 'table' then
    return value
  end
  local out = {}
  for key, member in pairs(value) do
    if member ~= vim.NIL then
      out[key] = without_null(member)
    end
  end
  return out
end

---@param block any
local function normal_block(block)
  return {
    type = block.type,
    text = block.text,
    thinking = block.thinking,
    name = block.name,
    arguments = block.arguments,
    partialJson = block.partialJson,
  }
end

---@param content any
local function normal_content(content)
  if type(content) == 'string' then
    return { { type = 'text', text = content } }
  end
  return vim.tbl_map(normal_block, type(content) == 'table' and content or {})
end

---@param item xcsh.chat.Item
local function normal_item(item)
  local wire = require('xcsh.wire')
  local calls = {}
  for id, call in pairs(item.calls) do
    local output = wire.text_of(call.output)
    calls[id] = { status = call.status, output = output, entryId = call.entryId or '' }
  end
  return {
    entryId = item.entryId,
    role = item.message.role,
    live = item.live,
    retried = item.retried,
    content = normal_content(item.message.content),
    calls = calls,
  }
end

---@param session table
local function normal_session(session)
  local wire = require('xcsh.wire')
  local model, usage = wire.tbl(session.model), wire.tbl(session.usage)
  return {
    leafId = session.leafId,
    model = model.id and model.provider .. '/' .. model.id,
    thinkingLevel = session.thinkingLevel,
    approvalMode = session.approvalMode,
    mode = session.mode,
    unsaved = wire.str(session.unsaved),
    totalTokens = usage.totalTokens,
    cost = usage.cost,
  }
end

---The part of a state that both reducers share, in one shape.
---@param s xcsh.chat.State
local function normal(s)
  local retry = s.retry
  return without_null({
    live = s.sync.live,
    requested = s.sync.asked ~= 0,
    failed = s.sync.failed,
    sessionId = s.sync.sessionId,
    seq = s.sync.seq,
    running = s.running,
    compacting = s.compacting,
    queues = s.queues,
    approvals = vim.tbl_map(function(approval)
      return approval.id
    end, s.approvals),
    todos = s.todos,
    contextTokens = s.context.tokens,
    retry = retry and {
      attempt = retry.attempt,
      maxAttempts = retry.maxAttempts,
      delayMs = retry.delayMs,
      message = retry.message,
    },
    bash = s.bash,
    notices = s.notices,
    session = s.session and normal_session(s.session),
    items = vim.tbl_map(normal_item, s.items),
  })
end

---The action of a step, or nil.
---@param s xcsh.chat.State
---@param step table
local function action_of(s, step)
  local ask = s.sync.asked - (step.stale and 1 or 0)
  if step.snapshot then
    return { type = 'snapshot', ask = ask, snapshot = vim.deepcopy(step.snapshot) }
  elseif step.failed then
    return { type = 'failed', ask = ask, text = step.failed }
  elseif step.server then
    return { type = 'server', running = step.server == 'running' }
  end
  local n = { cwd = '/w', sessionId = step.sessionId or 's', seq = step.seq }
  n.event = vim.deepcopy(step.event)
  n.reason = step.sessionChanged and step.sessionChanged.reason
  return { type = 'notification', n = n }
end

---Replays the steps as the chat does: it requests a snapshot whenever the reducer wants one.
---@param steps table[]
---@param check fun(s: xcsh.chat.State, expected: table, step: integer)
local function play(steps, check)
  local states = require('xcsh.chat.state')
  local s, requests = states.new(), 0
  local function request()
    if states.wants_snapshot(s) then
      requests = requests + 1
      states.reduce(s, { type = 'asked', ask = requests })
    end
  end
  request()
  for i, step in ipairs(steps) do
    states.reduce(s, action_of(s, step))
    request()
    if step.expect then
      check(s, step.expect, i)
    end
  end
end

local function read(path)
  return vim.json.decode(table.concat(vim.fn.readfile(path), '\n'))
end

local files = vim.fn.sort(vim.fn.glob(dir .. '/*.json', true, true))

for _, path in ipairs(files) do
  local fixture = read(path)
  case(vim.fs.basename(path) .. ': ' .. fixture.about, function()
    play(fixture.steps, function(s, expected, i)
      local want, got = without_null(expected), normal(s)
      for _, key in
        ipairs(vim.fn.uniq(vim.fn.sort(vim.list_extend(vim.tbl_keys(want), vim.tbl_keys(got)))))
      do
        if not vim.deep_equal(want[key], got[key]) then
          error(
            ('step %d, %s: want %s\n got %s'):format(
              i,
              key,
              vim.inspect(want[key]),
              vim.inspect(got[key])
            )
          )
        end
      end
    end)
  end)
end

case('the fixtures are found', function()
  runner.eq(true, #files > 20)
end)
