-- Renders a chat as pages: one for each message, and one for the status below them.

local calls = require('xcsh.chat.calls')
local engine = require('xcsh.engine')
local foreign = require('xcsh.foreign')
local notes = require('xcsh.chat.notes')
local page = require('xcsh.chat.page')
local prompt = require('xcsh.chat.prompt')
local questions = require('xcsh.questions')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---Adds text as written. An unclosed fence would swallow the following lines.
---@param to xcsh.chat.Page
---@param said string
local function markdown(to, said)
  local lines = text.lines((said:gsub('%s+$', '')))
  to:add_all(lines)
  local open = text.open_fence(lines)
  if open then
    to:add(open)
  end
end

---@param stamp any milliseconds since 1970
local function clock(stamp)
  if type(stamp) ~= 'number' or stamp <= 0 then
    return nil
  end
  local seconds = math.floor(stamp / 1000)
  local today = os.date('%Y-%m-%d', seconds) == os.date('%Y-%m-%d')
  return os.date(today and '%H:%M' or '%Y-%m-%d %H:%M', seconds) --[[@as string]]
end

---@param count number
local function short(count)
  if count >= 1e6 then
    return ('%.1fM'):format(count / 1e6)
  elseif count >= 1e4 then
    return ('%dk'):format(count / 1e3)
  end
  return ('%d'):format(count)
end

---Returns the usage of an answer, for the right margin.
---@param message table
local function used(message)
  local usage, parts = wire.tbl(message.usage), {}
  if wire.num(usage.totalTokens) > 0 then
    parts[#parts + 1] = short(usage.totalTokens) .. ' tokens'
  end
  local cost = wire.num(wire.tbl(usage.cost).total)
  if cost > 0 then
    parts[#parts + 1] = ('$%.3f'):format(cost)
  end
  parts[#parts + 1] = clock(message.timestamp)
  return table.concat(parts, ' · ')
end

---@param to xcsh.chat.Page
---@param title string
---@param group string
---@param message table
local function heading(to, title, group, message)
  to:aside(to:add('## ' .. title, group), used(message))
  to:add('')
end

---A file as the server prepends it to a prompt.
local attachment = '^<file path="([^"\n]*)"([^>\n]*)>\n(.-)</file>\n*(.*)$'

---A client's instruction, which the server prepends too. It is not the user's.
local instruction = '^<instruction>\n.-\n</instruction>\n\n(.+)$'

---Adds the files attached to a prompt, each folded.
---@param to xcsh.chat.Page
---@param said string
---@return string rest
local function attachments(to, said)
  said = said:match(instruction) or said
  while true do
    local path, lines, body, rest = said:match(attachment)
    if not path then
      return said
    end
    local range = lines:match('lines="([%d-]+)"')
    to:fold('⎘ ' .. text.one_line(path) .. (range and ':' .. range or ''), 'XcshTool', function()
      to:fenced(text.lines((body:gsub('\n$', ''))))
    end)
    said = rest
  end
end

---@param to xcsh.chat.Page
---@param message table
---@param each fun(block: table)
local function blocks(to, message, each)
  if type(message.content) == 'string' then
    return each({ type = 'text', text = message.content })
  end
  for _, block in ipairs(wire.tbl(message.content)) do
    block = wire.tbl(block)
    if block.type == 'image' then
      to:add(('[image %s]'):format(text.one_line(wire.str(block.mimeType))), 'XcshNote')
    else
      each(block)
    end
  end
end

---@param to xcsh.chat.Page
---@param item xcsh.chat.Item
local function user(to, item)
  heading(to, 'You', 'XcshUser', item.message)
  local typed = prompt.typed(item)
  if typed then
    to:add_all(text.lines(typed))
    return to:fold('⎘ The text that was sent', 'XcshTool', function()
      to:fenced(text.lines(wire.text_of(item.message)))
    end)
  end
  blocks(to, item.message, function(block)
    local rest = attachments(to, wire.str(block.text))
    if rest ~= '' then
      markdown(to, rest)
    end
  end)
end

---@param to xcsh.chat.Page
---@param block table
---@param is_live boolean
local function thinking(to, block, is_live)
  local said = vim.trim(wire.str(block.thinking))
  if said == '' then
    return
  end
  to:fold(is_live and '∴ Thinking' or '∴ Thought process', 'XcshThinking', function()
    to:add_all(text.lines(said), 'XcshThinking')
  end)
  to:add('')
end

---@param to xcsh.chat.Page
---@param item xcsh.chat.Item
local function assistant(to, item)
  local message = item.message
  local model = wire.str(message.model)
  heading(to, model ~= '' and text.one_line(model, 80) or 'Assistant', 'XcshAssistant', message)
  blocks(to, message, function(block)
    if block.type == 'text' and wire.str(block.text) ~= '' then
      markdown(to, block.text)
      to:add('')
    elseif block.type == 'thinking' then
      thinking(to, block, item.live)
    elseif block.type == 'toolCall' then
      calls.add(to, block, item.calls[wire.str(block.id)] or { status = 'waiting' })
    end
  end)
  if wire.str(message.errorMessage) ~= '' then
    to:add_all(text.lines(message.errorMessage), 'XcshError')
  end
end

---@param title string
local function summary(title)
  ---@param to xcsh.chat.Page
  ---@param item xcsh.chat.Item
  return function(to, item)
    to:fold('⋯ ' .. title, 'XcshNote', function()
      markdown(to, wire.str(item.message.summary))
    end)
  end
end

---@param to xcsh.chat.Page
---@param item xcsh.chat.Item
local function command(to, item)
  local message = item.message
  local code = message.exitCode
  local ended = message.cancelled == true and ' [stopped]'
    or wire.num(code) ~= 0 and (' [exit code %d]'):format(code)
    or ''
  heading(to, 'You ran', 'XcshUser', message)
  to:fold('$ ' .. text.one_line(wire.str(message.command)) .. ended, 'XcshTool', function()
    local output = wire.str(message.output):gsub('\n$', '')
    if output ~= '' then
      to:fenced(text.lines(output))
    end
  end)
end

---@type table<string, fun(to: xcsh.chat.Page, item: xcsh.chat.Item)>
local roles = {
  system = function() end, -- pi records the system prompt and the tools
  user = user,
  assistant = assistant,
  toolResult = function(to, item)
    calls.orphan(to, item.message)
  end,
  bashExecution = command,
  compactionSummary = summary('Earlier messages (summarized)'),
  branchSummary = summary('Another branch (summarized)'),
}

---@param item xcsh.chat.Item
---@return xcsh.chat.Page
function M.item(item)
  local to = page.new()
  if item.retried then
    return to -- the next attempt takes its place
  end
  local draw = prompt.is(item.message) and user or roles[item.message.role]
  if draw then
    draw(to, item)
  elseif item.message.display ~= false then
    heading(to, text.one_line(wire.str(item.message.role), 60), 'XcshNote', item.message)
    markdown(to, wire.text_of(item.message))
  end
  if to.lines[#to.lines] ~= '' and #to.lines > 0 then
    to:add('')
  end
  return to
end

---@param count integer
---@return string
local function grouped(count)
  return (tostring(count):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', ''))
end

---Renders the line in place of messages that are not in the chat.
---@param kind 'earlier'|'more'
---@param count integer
---@param failed string error of the last attempt to load them
---@return xcsh.chat.Page
function M.missing(kind, count, failed)
  local to = page.new()
  if failed ~= '' then
    to:add('✗ ' .. text.one_line(failed, 400) .. ' Press <CR> to try again.', 'XcshError')
  else
    local noun = count == 1 and 'message' or 'messages'
    to:add(('⋯ %s %s %s'):format(grouped(count), kind, noun), 'XcshNote')
  end
  to:add('')
  return to
end

---@param to xcsh.chat.Page
---@param s xcsh.chat.State
local function plan(to, s)
  for _, phase in ipairs(s.todos) do
    if #phase.todos > 0 then
      local name = phase.name ~= '' and ': ' .. text.one_line(phase.name, 80) or ''
      to:add('Plan' .. name, 'XcshTool')
      for _, todo in ipairs(phase.todos) do
        local done = todo.status == 'completed' or todo.status == 'abandoned'
        local box = todo.status == 'in_progress' and '[-]' or done and '[x]' or '[ ]'
        local line = ('- %s %s'):format(box, text.one_line(todo.text))
        if todo.status == 'blocked' then
          local blocker = todo.blocker ~= '' and ': ' .. text.one_line(todo.blocker, 200) or ''
          line = ('%s (blocked%s)'):format(line, blocker)
        end
        to:add(line, done and 'XcshTodoDone' or 'XcshTodo')
      end
      to:add('')
    end
  end
end

---@param to xcsh.chat.Page
---@param label string
---@param waiting string[]
local function queue(to, label, waiting)
  for _, said in ipairs(waiting) do
    to:add(('» %s: %s'):format(label, text.one_line(said)), 'XcshQueue')
  end
end

---Longer error output of the engine is cut at its beginning.
local max_details = 50 -- lines

---Adds why the engine ended.
---@param to xcsh.chat.Page
---@param failure? xcsh.chat.Failure
local function failed(to, failure)
  if not failure then
    return
  end
  local said = failure.message ~= '' and failure.message or 'The engine has ended.'
  to:add('✗ ' .. text.one_line(said, 1000), 'XcshError')
  local details = text.lines(vim.trim(failure.details))
  if failure.details ~= '' then
    to:fold('⋯ Error output', 'XcshNote', function()
      to:fenced(vim.list_slice(details, math.max(1, #details - max_details + 1)))
    end)
  end
  to:add('Press E to choose how to continue.', 'XcshNote')
end

---Adds the questions of the engine's extensions.
---@param to xcsh.chat.Page
---@param s xcsh.chat.State
local function asked(to, s)
  for i, question in ipairs(s.questions) do
    local line = '? ' .. questions.summary(question)
    to:add(i == 1 and line .. ' · press A to answer' or line, 'XcshApproval')
  end
end

---More lines of one extension are not shown.
local max_status = 5

---Adds the texts that the engine's extensions show.
---@param to xcsh.chat.Page
---@param s xcsh.chat.State
local function statuses(to, s)
  for _, status in ipairs(s.statuses) do
    for i = 1, math.min(#status.lines, max_status) do
      to:add('│ ' .. text.one_line(status.lines[i]), 'XcshNote')
    end
  end
end

---@param s xcsh.chat.State
---@return string?
local function starting(s)
  local now = s.session and s.session.engine
  if now and now.state == 'starting' then
    return '… Starting ' .. engine.label(now)
  end
end

---@param s xcsh.chat.State
---@return string?
local function doing(s)
  if not s.sync.running then
    return '■ The server is not running. Press R or send a message to start it.'
  elseif s.sync.failed ~= '' then
    return '✗ ' .. text.one_line(s.sync.failed, 400) .. ' Press R to try again.'
  elseif #s.approvals > 0 then
    return nil -- the question is visible
  elseif s.retry then
    local delay = math.ceil(s.retry.delayMs / 1000)
    local now = delay > 0 and ('… Retrying in %d s'):format(delay) or '… Retrying'
    now = ('%s (%d of %d)'):format(now, s.retry.attempt, s.retry.maxAttempts)
    return s.retry.message ~= '' and now .. ': ' .. text.one_line(s.retry.message) or now
  elseif starting(s) then
    return starting(s)
  elseif s.compacting then
    return '… Compacting the conversation'
  elseif s.running then
    return '… Working'
  elseif #s.items == 0 and s.sync.live then
    return 'No messages yet. Type below; press ? to list the keys.'
  elseif not s.sync.live and #s.items == 0 then
    return '… Loading the session'
  end
end

---Adds what the last turn did to files, and the keys to review it and to take it back.
---@param to xcsh.chat.Page
---@param s xcsh.chat.State
local function card(to, s)
  if s.interrupted then
    to:add('! ' .. require('xcsh.changes.pending').interruption, 'XcshApproval')
  end
  if s.card and not s.running then
    local said = require('xcsh.changes.pending').words(s.card)
    local more = s.card.unseen and ' (not all known)' or ''
    to:add(('± %s%s · c review · u undo'):format(said, more), 'XcshTool')
  end
end

---@param to xcsh.chat.Page
---@param s xcsh.chat.State
local function unready(to, s)
  local ready = wire.tbl(wire.tbl(s.session).ready)
  if ready.ok == false and s.sync.live and not s.running then
    local message = wire.str(ready.message)
    message = message ~= '' and message or 'Choose a model to start.'
    to:add(text.one_line(message, 300) .. ' Press E, or :XcshLogin.', 'XcshApproval')
  end
end

---Renders the status below the conversation. Its last line is empty, so that a cursor there is at
---the end.
---@param s xcsh.chat.State
---@return xcsh.chat.Page
function M.tail(s)
  local to = page.new()
  plan(to, s)
  if s.bash then
    to:fenced(text.lines((s.bash:gsub('\n$', ''))))
  end
  notes.draw(to, s)
  -- Several events report the same failure.
  local shown = { [s.failure and s.failure.message or ''] = true }
  for _, notice in ipairs(s.notices) do
    local mark, group = '· ', 'XcshNote'
    if notice.error then
      mark, group = '✗ ', 'XcshError'
    end
    if not shown[notice.text] then
      to:add(mark .. text.one_line(notice.text, 1000), group)
    end
    shown[notice.text] = true
  end
  if s.foreign then
    to:add('⎇ ' .. foreign.line(s.foreign) .. ' Press B to decide.', 'XcshNote')
  end
  for _, running in ipairs(s.background) do
    local line = '» Running in the background: %s (stop with :XcshStopBackground)'
    to:add(line:format(text.one_line(running.command)), 'XcshQueue')
  end
  card(to, s)
  queue(to, 'Sending next', s.queues.steering)
  queue(to, 'Queued', s.queues.followUp)
  failed(to, s.failure)
  asked(to, s)
  local now = doing(s)
  if now then
    to:add(now, 'XcshNote')
  end
  statuses(to, s)
  unready(to, s)
  to:add('')
  return to
end

return M
