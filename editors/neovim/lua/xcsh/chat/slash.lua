-- Completion of commands at the beginning of a prompt: "/name". They are those of the engine, or
-- else the skills and templates of the folder, and those of the server. The list is requested when
-- the user first types a slash, which can start the engine, and again after the engine or the list
-- has changed.

local client = require('xcsh.client')
local engines = require('xcsh.engine')
local references = require('xcsh.chat.references')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---More commands are not offered.
local max_commands = 1000

---@class xcsh.chat.Slash
---@field ask integer number of the newest request
---@field asking boolean
---@field commands? { name: string, description: string, hint: string }[] nil before they are known
---@field failed? boolean the request failed; only the user's key repeats it
---@field engine? string the name of the engine that has them
---@field wanted? boolean the user has requested the list

---@type table<string, xcsh.chat.Slash>
local known = {}

---@param cwd string
local function of(cwd)
  known[cwd] = known[cwd] or { ask = 0, asking = false }
  return known[cwd]
end

---Returns the commands of a result. Their names are text that is sent as it is, so that one that
---would not be shown as it is cannot be chosen.
---@param result any
---@return { name: string, description: string, hint: string }[]
function M.commands_of(result)
  local commands = {}
  for _, command in ipairs(wire.tbl(wire.tbl(result).commands)) do
    command = wire.tbl(command)
    local name = wire.str(command.name):gsub('^/', '')
    local plain = name ~= '' and #name <= 200 and not name:find('%s') and text.line(name) == name
    if plain and #commands < max_commands then
      local description = text.one_line(vim.trim(wire.str(command.description)), 120)
      local hint = text.one_line(vim.trim(wire.str(command.argumentHint)), 60)
      commands[#commands + 1] = { name = name, description = description, hint = hint }
    end
  end
  return commands
end

---Returns the beginning of a command before the cursor, with its slash; nil if there is none.
---@return string?
local function typed()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  if row == 1 then
    return vim.api.nvim_get_current_line():sub(1, col):match('^/%S*$')
  end
end

---Returns the commands that begin with a text, as items of a completion.
---@param cwd string
---@param base string with its slash
local function items(cwd, base)
  local found = {}
  for _, command in ipairs(of(cwd).commands or {}) do
    if vim.startswith('/' .. command.name:lower(), base:lower()) then
      found[#found + 1] = {
        word = '/' .. command.name .. ' ',
        abbr = '/' .. command.name .. (command.hint ~= '' and ' ' .. command.hint or ''),
        menu = command.description,
        dup = 1,
      }
    end
  end
  return found
end

---Shows the list at the cursor of the prompt, if the user still types a command there.
---@param chat xcsh.chat.Chat
local function show(chat)
  local here = vim.api.nvim_get_current_buf() == chat.input
  local base = here and vim.api.nvim_get_mode().mode:find('^i') and typed()
  if base then
    vim.fn.complete(1, items(chat.cwd, base))
  end
end

---@param chat xcsh.chat.Chat
local function load(chat)
  local list = of(chat.cwd)
  if list.commands or list.asking then
    return
  end
  list.ask, list.asking = list.ask + 1, true
  list.engine = (engines.of(chat.cwd) or {}).name
  local ask = list.ask
  client.execute('xcsh.commands', { cwd = chat.cwd }, function(err, result)
    if ask ~= list.ask then
      return -- another engine was chosen since
    end
    list.asking = false
    -- Completion is only a convenience; sending a prompt reports the error of the engine.
    list.failed, list.commands = err ~= nil, err and {} or M.commands_of(result)
    if list.wanted then
      list.wanted = nil
      show(chat)
    end
    require('xcsh.chat.input').hint(chat)
  end)
end

---Sets the options of a prompt, for <C-x><C-u>, <C-x><C-o> and completion plugins.
---@param bufnr integer
function M.set(bufnr)
  local complete = "v:lua.require'xcsh.chat.slash'.complete"
  vim.bo[bufnr].completefunc = complete
  vim.bo[bufnr].omnifunc = complete
end

---See |complete-functions|.
---@param find_start 0|1
---@param base string
function M.complete(find_start, base)
  local chat = require('xcsh.chat').of_buffer(vim.api.nvim_get_current_buf())
  local reference, start = references.typed()
  if find_start == 1 then
    return not chat and -3 or reference and start or typed() and 0 or -3
  end
  if not chat then
    return {}
  elseif vim.startswith(base, '@') then
    return references.items(chat, base)
  end
  local list = of(chat.cwd)
  list.wanted = not list.commands
  load(chat)
  return items(chat.cwd, base)
end

---Requests the commands when the user begins one.
---@param chat xcsh.chat.Chat
function M.typed(chat)
  local first = vim.api.nvim_buf_get_lines(chat.input, 0, 1, false)[1] or ''
  local engine = engines.of(chat.cwd)
  -- Typing does not start an engine again that has failed.
  if first:find('^/%S*$') and not (engine and engine.state == 'failed') then
    load(chat)
  end
end

---Returns a hint for a prompt that is only a slash; nil if there is nothing to complete.
---@param chat xcsh.chat.Chat
---@return string?
function M.hint(chat)
  local list = of(chat.cwd)
  if list.commands and #list.commands > 0 then
    return '<Tab> completes a command'
  end
end

---<Tab> in the prompt: shows the commands, or selects the next one. Elsewhere it is a tab.
---@param chat xcsh.chat.Chat
function M.key(chat)
  if vim.fn.pumvisible() == 1 then
    return vim.api.nvim_feedkeys(vim.keycode('<C-n>'), 'ni', false)
  end
  local reference, start = references.typed()
  if reference then
    return vim.fn.complete(start + 1, references.items(chat, reference))
  elseif not typed() then
    return vim.api.nvim_feedkeys('\t', 'ni', false)
  end
  local list = of(chat.cwd)
  if list.failed then
    list.failed, list.commands = nil, nil
  end
  if list.commands then
    return show(chat)
  end
  list.wanted = true
  load(chat)
end

---Handles an event of the chat's folder.
---@param chat xcsh.chat.Chat
---@param event table
function M.follow(chat, event)
  local list = known[chat.cwd]
  if event.type == 'commands_changed' and list and not list.asking then
    list.commands = nil -- requested again when the user begins one
  end
  if event.type ~= 'engine_changed' or not list then
    return
  end
  if list.engine and list.engine ~= event.engine then
    known[chat.cwd] = { ask = list.ask + 1, asking = false }
  elseif not engines.is_open(event) and not list.failed then
    -- The next start can find other extensions. A pending request may be what starts the engine.
    list.commands = nil
  end
end

client.on('server', function(running)
  if not running then
    known = {}
  end
end)

return M
