-- Modules that need no server: the reducer of the chat, diffs, untrusted text.

local runner = require('runner')
local case, eq, like = runner.case, runner.eq, runner.like

local function states()
  return require('xcsh.chat.state')
end

---@param seq integer
---@param messages? table[]
---@param id? string
local function snapshot(seq, messages, id)
  return {
    seq = seq,
    state = { sessionId = id or 's', isStreaming = false, isCompacting = false },
    messages = messages or {},
    tools = {},
    queues = {},
    approvals = {},
    contextUsage = { tokens = 0 },
  }
end

---Returns a state that follows session s up to an event.
---@param seq integer
---@param messages? table[]
local function following(seq, messages)
  local s = states().new()
  states().reduce(s, { type = 'asked', ask = 1 })
  states().reduce(s, { type = 'snapshot', ask = 1, snapshot = snapshot(seq, messages) })
  return s
end

local function notify(s, seq, event, id)
  local n = { cwd = '/w', sessionId = id or 's', seq = seq, event = event }
  states().reduce(s, { type = 'notification', n = n })
end

local function user(entry_id, text)
  return { entryId = entry_id, message = { role = 'user', content = text } }
end

local function said(entry_id, text)
  local message = { role = 'user', content = text }
  return { type = 'message_end', entryId = entry_id, message = message }
end

case('events are applied in order, each once', function()
  local s = following(3, { user('a', 'one') })
  notify(s, 4, said('b', 'two'))
  notify(s, 4, said('b', 'two'))
  notify(s, 2, said('c', 'old'))
  eq({ 2, 4, true }, { #s.items, s.sync.seq, s.sync.live })
end)

case('a gap requests a snapshot, and later events are applied to it', function()
  local s = following(3)
  notify(s, 5, said('b', 'two'))
  eq({ false, true }, { s.sync.live, states().wants_snapshot(s) })
  states().reduce(s, { type = 'asked', ask = 2 })
  eq(false, states().wants_snapshot(s))
  notify(s, 6, said('c', 'three'))
  states().reduce(s, { type = 'snapshot', ask = 1, snapshot = snapshot(9) }) -- an older request
  eq(false, s.sync.live)
  local now = snapshot(5, { user('a', 'one'), user('b', 'two') })
  states().reduce(s, { type = 'snapshot', ask = 2, snapshot = now })
  eq({ true, 6, 3 }, { s.sync.live, s.sync.seq, #s.items })
end)

case('a message in the snapshot is not added twice', function()
  local s = following(3, { user('a', 'one'), user('b', 'two') })
  notify(s, 4, said('b', 'two'))
  eq(2, #s.items)
end)

case('a snapshot older than a session switch is requested again', function()
  local s = following(3)
  local change = { cwd = '/w', sessionId = 'next', seq = 1, reason = 'resume' }
  states().reduce(s, { type = 'notification', n = change })
  states().reduce(s, { type = 'asked', ask = 2 })
  states().reduce(s, { type = 'snapshot', ask = 2, snapshot = snapshot(3) })
  eq({ false, true }, { s.sync.live, states().wants_snapshot(s) })
  states().reduce(s, { type = 'asked', ask = 3 })
  states().reduce(s, { type = 'snapshot', ask = 3, snapshot = snapshot(1, {}, 'next') })
  eq({ true, 'next' }, { s.sync.live, s.sync.sessionId })
  -- Late notifications of the previous session change nothing.
  notify(s, 4, said('x', 'late'))
  eq({ true, 0 }, { s.sync.live, #s.items })
end)

case('a server exit ends the running turn, and the next server numbers from 1', function()
  local s = following(3, { user('a', 'one') })
  notify(s, 4, { type = 'agent_start' })
  notify(s, 5, { type = 'message_start', message = { role = 'assistant', content = {} } })
  eq({ true, 2 }, { s.running, #s.items })
  states().reduce(s, { type = 'server', running = false })
  eq({ false, 1, false }, { s.running, #s.items, states().wants_snapshot(s) })
  notify(s, 6, said('b', 'two'))
  eq(1, #s.items)
  states().reduce(s, { type = 'server', running = true })
  eq(true, states().wants_snapshot(s))
end)

case('unchanged items stay the same tables', function()
  local s = following(3, { user('a', 'one'), user('b', 'two') })
  local first, second = s.items[1], s.items[2]
  states().reduce(s, { type = 'asked', ask = 2 })
  local now = snapshot(7, { user('a', 'one'), user('c', 'other') })
  states().reduce(s, { type = 'snapshot', ask = 2, snapshot = now })
  eq({ true, false }, { s.items[1] == first, s.items[2] == second })
end)

case('unknown events change nothing', function()
  local s = following(3, { user('a', 'one') })
  local odd = {
    { type = 'hologram' },
    { type = 'message_update' },
    { type = 'message_update', assistantMessageEvent = { contentIndex = 1e9 } },
    { type = 'tool_execution_end', toolCallId = 'unknown' },
    { type = 'approvals_changed' },
    {},
  }
  for i, event in ipairs(odd) do
    notify(s, 3 + i, event)
  end
  eq({ 1, true }, { #s.items, s.sync.live })
end)

case('added and removed lines of a diff are distinguished from its header', function()
  local group = require('xcsh.diff').group
  eq(
    { 'XcshDiffAdd', 'XcshDiffDelete', 'XcshDiffHunk' },
    { group('+x'), group('-'), group('@@ -1') }
  )
  for _, line in ipairs({ ' x', '+++ b', '--- a', '' }) do
    eq(nil, group(line))
  end
end)

case('untrusted text is made harmless', function()
  local text = require('xcsh.text')
  eq({ 'a␀b', '␛[31m', '\tx', '' }, text.lines('a\0b\n\27[31m\r\n\tx\n'))
  eq('a·b', text.line('a\194\155b'))
  eq('x<202e>y<2066>', text.line('x\226\128\174y\226\129\166'))
  eq('x<061c>y', text.line('x\216\156y'))
  eq('“quoted” – ok', text.line('“quoted” – ok'))
  eq('ä', text.head('ää', 3))
  like('^x+ … %[a line of 9999 bytes%]$', text.line(('x'):rep(9999)))
  eq({ ('x'):rep(4000), 'y', 'z' }, text.whole(('x'):rep(4000) .. 'y\nz'))
  eq({ 'begin… 7 bytes …e end', false }, { text.clip('begin and the end', 10) })
  eq({ 'short', true }, { text.clip('short', 10) })
  eq('`````', text.fence({ 'a ```` b' }))
  eq('```', text.fence({ 'a' }))
  eq('```', text.open_fence({ 'a', '```lua', 'x' }))
  eq(nil, text.open_fence({ '```', 'x', '```' }))
  eq('````', text.open_fence({ '````', '```', 'x' }))
  eq('~~~', text.open_fence({ '~~~', '```', 'x' }))
  eq(nil, text.open_fence({ '```a`b```' }))
end)
