-- The settings. Every field has a default, so setup() need not be called.

local M = {}

---@type xcsh.Config
M.options = {}

M.pickers = { 'auto', 'select', 'telescope', 'fzf-lua', 'snacks' }
M.reviews = { 'inline', 'tab' }
M.shows = { 'lines', 'signs', 'none' }
M.positions = { 'right', 'left', 'bottom', 'current' }

---@param name string
---@param value any
---@param values string[]
local function one_of(name, value, values)
  if value ~= nil and not vim.tbl_contains(values, value) then
    local text = 'xcsh: %s must be one of %s'
    error(text:format(name, table.concat(values, ', ')), 4)
  end
end

---@param options? xcsh.Config
function M.set(options)
  assert(options == nil or type(options) == 'table', 'xcsh: setup() expects a table')
  options = options or {}
  one_of('picker', options.picker, M.pickers)
  one_of('review', options.review, M.reviews)
  one_of('changes.show', (options.changes or {}).show, M.shows)
  one_of('chat.position', (options.chat or {}).position, M.positions)
  M.options = options
end

---Returns the working directory for commands.
---@return string
function M.root()
  return M.options.root and M.options.root() or vim.fn.getcwd()
end

---Returns the register that :XcshDump! copies to.
---@return string
function M.register()
  return M.options.register or (vim.fn.has('clipboard') == 1 and '+' or '"')
end

---@param share number below 1: a fraction of the screen
---@param all integer
local function cells(share, all)
  return math.max(10, math.floor(share < 1 and share * all or share))
end

---@class xcsh.ChatPlace
---@field position 'right'|'left'|'bottom'|'current'
---@field width fun(): integer
---@field height fun(): integer
---@field prompt_height integer

---Returns the position and size of the chat, with all defaults filled in.
---@return xcsh.ChatPlace
function M.chat()
  local chat = M.options.chat or {}
  return {
    position = chat.position or 'right',
    width = function()
      return cells(chat.width or 0.45, vim.o.columns)
    end,
    height = function()
      return cells(chat.height or 0.5, vim.o.lines)
    end,
    prompt_height = chat.prompt_height or 5,
  }
end

---@class xcsh.ChangesShown
---@field show 'lines'|'signs'|'none'
---@field keys table<string, string|false> by name

---Returns how pending changes are shown in files, with all defaults filled in.
---@return xcsh.ChangesShown
function M.changes()
  local changes = M.options.changes or {}
  local keys = {}
  for _, key in ipairs(require('xcsh.changes.keys').all) do
    local own = (changes.keys or {})[key.name]
    keys[key.name] = changes.keys ~= false and (own == nil and key.lhs or own) or false
  end
  return { show = changes.show or 'lines', keys = keys }
end

---Returns the terminal ID for the server, nil if there is none.
---@return string?
function M.terminal_id()
  local own = (M.options.init_options or {}).terminalId
  if own ~= nil then
    return own
  end
  return require('xcsh.terminal').id()
end

---Returns the command line of the server, or nil and a message for the user.
---@return string[]? cmd, string? problem
function M.command()
  local cmd = M.options.cmd or vim.g.xcsh_ls_cmd or 'xcsh-ls'
  if type(cmd) == 'string' then
    cmd = { vim.fn.expand(cmd) }
  end
  if vim.fn.executable(cmd[1]) == 0 then
    local hint = 'install it, add it to PATH, or set g:xcsh_ls_cmd'
    return nil, ('Couldn\'t run the server "%s": %s.'):format(cmd[1], hint)
  end
  return cmd
end

return M
