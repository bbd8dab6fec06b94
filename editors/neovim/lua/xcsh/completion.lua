-- Completion of arguments on the command line. Words that the protocol defines are known here; the
-- server is asked for the others, and started if it is not running: the user presses a key for it.

local client = require('xcsh.client')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---The user waits for a completion no longer than this, in milliseconds.
M.patience = 2000

---The number of sessions that are offered.
local most_sessions = 200

local levels = { 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max' }

---The words of an argument, by its name, and by its command where commands differ.
---@type table<string, string[]>
M.words = {
  ['xcsh.setApproval mode'] = { 'read-only', 'ask', 'auto-edit', 'yolo' },
  ['xcsh.setMode mode'] = { 'plan', 'plan_paused', 'none' },
  ['xcsh.trust decision'] = { 'all', 'without-servers', 'none' },
  ['xcsh.setThinking level'] = levels,
  ['xcsh.chooseBranch choice'] = { 'follow', 'stay', 'fork' },
  ['xcsh.approve decision'] = {
    'once',
    'session',
    'workspace',
    'deny',
    'session-wider',
    'workspace-wider',
  },
  ['xcsh.export format'] = { 'html', 'markdown', 'text', 'jsonl', 'agent-base' },
  ['xcsh.team.share scope'] = { 'new', 'all', 'session', 'off' },
  ['xcsh.list scope'] = { 'folder', 'all', 'team' },
  ['xcsh.resume scope'] = { 'folder', 'all', 'team' },
  ['scope'] = { 'folder', 'all' },
  ['streamingBehavior'] = { 'steer', 'followUp' },
}

---Runs a command and waits for its result; nil if it fails or takes too long.
---@param name string
---@param args table<string, any>
---@return table?
local function ask(name, args)
  local result, done
  args.cwd = require('xcsh.config').root()
  client.execute(name, args, function(err, answer)
    result, done = not err and wire.tbl(answer) or nil, true
  end)
  vim.wait(M.patience, function()
    return done
  end, 10)
  return result
end

---Reports whether a text can be on the command line as it is.
---@param said string
local function is_plain(said)
  return said ~= '' and #said <= 200 and text.line(said) == said and not said:find('^[{%s]')
end

---@return string[] titles, or the IDs of sessions without one
local function sessions()
  local found = {}
  local list = ask('xcsh.list', { limit = most_sessions }) or {}
  for _, session in ipairs(wire.tbl(list.sessions)) do
    local title, id = wire.str(wire.tbl(session).title), wire.str(wire.tbl(session).id)
    found[#found + 1] = is_plain(title) and title or id
  end
  return found
end

---@return string[] the places of deleted sessions in the trash, the latest first
local function trashed()
  return vim.tbl_map(function(session)
    return wire.str(wire.tbl(session).trashed)
  end, wire.tbl((ask('xcsh.trash', { scope = 'all', limit = most_sessions }) or {}).sessions))
end

---@return string[] the models that are ready to use, then the others
local function models()
  local ready, others = {}, {}
  for _, model in ipairs(wire.tbl((ask('xcsh.models', {}) or {}).models)) do
    local name = wire.str(wire.tbl(model).provider) .. '/' .. wire.str(model.id)
    table.insert(model.available == true and ready or others, name)
  end
  return vim.list_extend(ready, others)
end

---@param list string the result's member
---@param name string the member of an item
local function names_of(command, list, name)
  return function()
    return vim.tbl_map(function(item)
      return wire.str(wire.tbl(item)[name])
    end, wire.tbl((ask(command, {}) or {})[list]))
  end
end

local engines = names_of('xcsh.engines', 'engines', 'name')
local providers = names_of('xcsh.providers', 'providers', 'id')

---@return string[] IDs of commands that run in the background
local function background()
  local snapshot = ask('xcsh.snapshot', { last = 1 }) or {}
  return vim.tbl_map(function(command)
    return wire.str(wire.tbl(command).id)
  end, wire.tbl(snapshot.background))
end

---The number of messages whose entries are offered.
local most_entries = 200

---Returns the IDs of the conversation's messages, newest first, the user's before the others.
---@return string[]
local function entries()
  local mine, others = {}, {}
  local snapshot = ask('xcsh.snapshot', { last = most_entries }) or {}
  local messages = wire.tbl(snapshot.messages)
  for i = #messages, 1, -1 do
    local stored = wire.tbl(messages[i])
    local is_mine = wire.tbl(stored.message).role == 'user'
    table.insert(is_mine and mine or others, wire.str(stored.entryId))
  end
  return vim.list_extend(mine, others)
end

---Returns a source of the IDs in a list of the snapshot.
---@param list 'approvals'|'questions'
local function pending(list)
  return function()
    return vim.tbl_map(function(item)
      return wire.str(wire.tbl(item).id)
    end, wire.tbl((ask('xcsh.snapshot', { last = 1 }) or {})[list]))
  end
end

---@return string[] the options of the pending questions
local function options()
  local found = {}
  local snapshot = ask('xcsh.snapshot', { last = 1 }) or {}
  for _, question in ipairs(wire.tbl(snapshot.questions)) do
    vim.list_extend(found, wire.texts(wire.tbl(question).options))
  end
  return found
end

---@param kind 'file'|'dir'
local function paths(kind)
  return function(so_far)
    return vim.fn.getcompletion(so_far, kind)
  end
end

---@type table<string, fun(so_far: string): string[]>
local sources = {
  source = sessions,
  target = sessions,
  trashed = trashed,
  ['xcsh.setModel model'] = models,
  ['xcsh.setEngine engine'] = engines,
  ['xcsh.login engine'] = function()
    return vim.list_extend(engines(), providers())
  end,
  ['xcsh.setKey provider'] = providers,
  ['xcsh.stopBackground id'] = background,
  ['xcsh.approve id'] = pending('approvals'),
  ['xcsh.answer id'] = pending('questions'),
  ['xcsh.answer value'] = options,
  entryId = entries,
  ['xcsh.export path'] = paths('file'),
  ['xcsh.move to'] = paths('dir'),
  ['xcsh.import dir'] = paths('dir'),
}

---@param command string
---@param argument string
---@param so_far string
---@return string[]
local function candidates(command, argument, so_far)
  local key = command .. ' ' .. argument
  local source = sources[key] or sources[argument]
  return M.words[key] or M.words[argument] or source and source(so_far) or {}
end

---@param words string[]
---@param lead string
---@return string[]
function M.starting_with(words, lead)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

---Returns the values of an argument that begin with a text. Case is ignored.
---@param command string
---@param argument string
---@param so_far string everything that the user typed for it
---@param replaced string its end, which the completion replaces
---@return string[]
function M.values(command, argument, so_far, replaced)
  local kept = #so_far - #replaced
  local found, seen = {}, {}
  for _, value in ipairs(candidates(command, argument, so_far)) do
    local begins = value:sub(1, #so_far):lower() == so_far:lower()
    if is_plain(value) and begins and not seen[value] then
      seen[value] = true
      found[#found + 1] = value:sub(kept + 1)
    end
  end
  return found
end

return M
