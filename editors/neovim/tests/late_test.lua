-- A large session that is shown before it is read whole. The server is real; its early answers,
-- which need a file of more than 64 MiB, are imitated.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local id = '15d56a686bbe6801'
local names = { 'usage', 'title', 'model', 'thinkingLevel', 'messageCount' }

---Makes the answers of a folder early ones until the returned function is called.
local function early()
  local client = require('xcsh.client')
  local execute, on = client.execute, true
  ---@param state table
  local function hide(state)
    for _, name in ipairs(names) do
      state[name] = vim.NIL
    end
    state.pending = names
  end
  client.execute = function(name, args, callback)
    return execute(name, args, function(err, result)
      if on and not err and name == 'xcsh.snapshot' then
        hide(result.state)
        result.contextUsage, result.pending = vim.NIL, { 'contextUsage' }
      elseif on and not err and name == 'xcsh.state' then
        hide(result)
      elseif on and not err and name == 'xcsh.resume' then
        hide(result.session)
        result.summary, result.repairs = vim.NIL, {}
        result.pending = vim.list_extend({ 'summary', 'repairs' }, names)
      end
      callback(err, result)
    end)
  end
  return function()
    on = false
  end
end

---@param method string
local function notify(method, params)
  local handler = require('xcsh.client').get().handlers[method]
  handler(nil, params, { client_id = require('xcsh.client').get().id, method = method })
end

local function bar(chat)
  return require('xcsh.chat.windows').about(chat)
end

case('the server is asked for early answers', function()
  harness.execute('xcsh.state')
  eq(true, require('xcsh.client').get().config.init_options.lateValues)
end)

case('a session is shown while it is read, and completed when the rest is known', function()
  local cwd = vim.fn.getcwd()
  local path = harness.session(cwd, id, 'How do boats float?', 'By displacing water.')
  harness.execute('xcsh.state')
  local finish = early()
  vim.cmd('XcshResume ' .. path)
  harness.message('^Resumed "…"%.$')
  local chat = chats.open(cwd)
  chats.wait_for(chat, 'By displacing water')
  eq('… · reading the session…', bar(chat))
  finish()
  local repairs = { { kind = 'badLine', line = 3, message = 'It is damaged.' } }
  local params = { cwd = cwd, sessionId = id, state = {}, repairs = repairs, pending = {} }
  notify('xcsh/sessionState', params)
  harness.message('^1 problem was found in the session file')
  wait('the rest', function()
    return not bar(chat):find('reading', 1, true)
  end)
  like('claude%-sonnet', bar(chat))
  like('By displacing water', chats.text_of(chat))
  -- The problems are reported once.
  harness.notified = {}
  notify('xcsh/sessionState', params)
  eq({}, harness.notified)
end)

case('an early snapshot that arrives after the session was read is requested again', function()
  local state = require('xcsh.chat.state')
  local s = state.new()
  state.reduce(s, { type = 'asked', ask = 1 })
  state.reduce(s, { type = 'read', n = { sessionId = 's' } })
  eq(true, state.wants_snapshot(s))
  local snapshot = { state = { sessionId = 's' }, messages = {}, seq = 1 }
  state.reduce(s, { type = 'snapshot', ask = 1, snapshot = snapshot })
  eq(false, s.sync.live)
  state.reduce(s, { type = 'asked', ask = 2 })
  state.reduce(s, { type = 'snapshot', ask = 2, snapshot = snapshot })
  eq(true, s.sync.live)
  state.reduce(s, { type = 'read', n = { sessionId = 'other' } })
  eq(true, s.sync.live)
  state.reduce(s, { type = 'read', n = { sessionId = 's' } })
  eq(true, state.wants_snapshot(s))
end)

---Writes a session with this many messages.
---@param count integer
local function long_session(count)
  local path = harness.session(vim.fn.getcwd(), id, 'x', 'y')
  local lines = vim.fn.readfile(path, '', 1)
  for i = 1, count do
    local role = i % 2 == 1 and 'user' or 'assistant'
    local message =
      { role = role, content = { { type = 'text', text = ('%s %d.'):format(role, i) } } }
    if role == 'assistant' then
      message.stopReason, message.provider, message.model = 'stop', 'p', 'm'
      message.api = 'anthropic-messages'
    end
    lines[#lines + 1] = vim.json.encode({
      type = 'message',
      id = ('%08x'):format(i),
      parentId = i > 1 and ('%08x'):format(i - 1) or vim.NIL,
      timestamp = ('2026-02-16T10:%02d:%02d.000Z'):format(20 + i / 60, i % 60),
      message = message,
    })
  end
  vim.fn.writefile(lines, path)
  return path
end

case('a reload requests the newest messages, and returns to the message in view', function()
  local cwd = vim.fn.getcwd()
  eq(true, harness.execute('xcsh.resume', { target = long_session(400) }).switched)
  local chat = chats.open(cwd)
  chats.wait_for(chat, 'assistant 400%.')
  harness.answer('user 101.')
  vim.cmd('XcshSearchHere user 101.')
  wait('the message', function()
    return vim.api.nvim_get_current_line():find('user 101%.')
  end)
  local epoch = chat.state.epoch
  local seq = chat.state.sync.seq
  notify('xcsh/sessionChanged', { cwd = cwd, sessionId = id, seq = seq, reason = 'resume' })
  eq(epoch, chat.state.epoch)
  -- Its number is that of the server, which imitated notifications don't count.
  chat.state.sync.seq = seq - 1
  notify('xcsh/sessionChanged', { cwd = cwd, sessionId = id, seq = seq, reason = 'reload' })
  wait('the new messages', function()
    return chat.state.sync.live and chat.state.epoch ~= epoch and chat.state.past
  end)
  local item = require('xcsh.chat.scroll').reading(chat)
  eq(('%08x'):format(101), item and item.entryId)
end)
