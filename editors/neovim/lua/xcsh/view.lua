-- Shows a message, or a buffer without a file.

local M = {}

---Reports whether vim.notify is Neovim's own, which writes to the command line. Later versions do
---not reveal its source file.
local function plain_notify()
  local source = debug.getinfo(vim.notify, 'S').source
  return source == '?' or source == '=?' or vim.startswith(source, '@vim/_')
end

---Adds a text to the message history. Each piece fits on the command line and replaces the one
---before, so that none waits for a key.
---@param message string
local function record(message)
  local text = require('xcsh.text')
  for _, line in ipairs(text.whole(message)) do
    for _, piece in ipairs(text.pieces(line, vim.v.echospace)) do
      vim.cmd.redraw() -- clears the previous message
      vim.api.nvim_echo({ { piece } }, true, {})
    end
  end
end

---Shows a message. The command line gets one line that fits: a longer one would wait for a key, and
---take one that the user types for something else. The message history has the full text.
---@param message string
---@param level? integer
function M.notify(message, level)
  level = level or vim.log.levels.INFO
  if plain_notify() then
    local line, fits = require('xcsh.text').fit(message, vim.v.echospace, ' … (see :messages)')
    if not fits then
      record(message)
    end
    vim.cmd.redraw() -- clears the previous message, which would make this one wait, too
    message = line
  end
  vim.notify(message, level, { title = 'xcsh' })
end

---Shows an error. Closing a question is not an error.
---@param err xcsh.Error
function M.error(err)
  local kind = type(err.data) == 'table' and err.data.kind
  local level = kind == 'cancelled' and vim.log.levels.INFO or vim.log.levels.ERROR
  M.notify(err.message, level)
end

---The command whose result is being shown; nil if the user's own key shows it.
---@type { intent: xcsh.Intent, cwd: string }?
local presenting

---Calls show, whose buffers and windows are those of a result of a command.
---@param intent? xcsh.Intent of the user's command; nil if the user waits for its result
---@param cwd string the directory of the command
---@param show fun()
function M.present(intent, cwd, show)
  presenting = intent and { intent = intent, cwd = cwd }
  local ok, problem = pcall(show)
  presenting = nil
  if not ok then
    error(problem, 0)
  end
end

---@param bufnr integer
local function focus(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd.sbuffer(bufnr)
  else
    vim.api.nvim_set_current_win(window)
  end
end

---Opens a result that takes the focus, if the user is waiting for it; otherwise announces it.
---@param says string description on one line
---@param open fun()
function M.open(says, open)
  local intent = presenting and presenting.intent
  if not intent or intent:waits() then
    return open()
  end
  require('xcsh.waiting').add({
    kind = 'result',
    cwd = presenting.cwd,
    says = says,
    once = true,
    open = open,
  })
end

---Shows a buffer. The window takes the focus only while the user is waiting for it. The answer to a
---turn never does, and if the user continued with other work meanwhile, no window opens.
---@param bufnr integer
---@param name string
local function show_buffer(bufnr, name)
  local intent = presenting and presenting.intent
  if not intent or intent:waits() then
    return focus(bufnr)
  elseif vim.fn.bufwinid(bufnr) ~= -1 then
    return
  end
  local direction = vim.o.splitbelow and 'below' or 'above'
  if intent:idle() and pcall(vim.api.nvim_open_win, bufnr, false, { split = direction }) then
    return
  end
  M.open(('xcsh %s is ready'):format(name), function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      focus(bufnr)
    end
  end)
end

---Replaces the text of a buffer that the user cannot change. A line break inside a line, which
---Neovim would reject, becomes a space.
---@param bufnr integer
---@param lines string[]
function M.fill(bufnr, lines)
  lines = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '))
  end, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
end

---Opens a window with text. The same name reuses its buffer.
---@param name string
---@param lines string[]
---@return integer bufnr
function M.scratch(name, lines)
  local uri = 'xcsh://' .. name
  local bufnr = -1
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(other) == uri then
      bufnr = other
    end
  end
  if bufnr == -1 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, uri)
  end
  M.fill(bufnr, lines)
  vim.bo[bufnr].bufhidden = 'wipe'
  show_buffer(bufnr, name)
  return bufnr
end

---Makes a floating window as high as its text, which can have wrapped lines, and centers it.
---@param window integer
local function fit_height(window)
  local height = math.min(vim.api.nvim_win_text_height(window, {}).all, vim.o.lines - 6)
  vim.api.nvim_win_set_config(window, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - vim.api.nvim_win_get_width(window)) / 2),
    height = height,
  })
end

---Opens a floating window that q and <Esc> close.
---@param name string
---@param lines string[]
---@param footer? string
---@return integer bufnr, integer window
function M.float(name, lines, footer)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local title = ' xcsh: ' .. name .. ' '
  footer = footer and ' ' .. footer .. ' ' or nil
  local width = math.max(20, vim.api.nvim_strwidth(title), vim.api.nvim_strwidth(footer or ''))
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  width = math.min(width + 2, vim.o.columns - 4)
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    row = 0,
    col = 0,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'rounded',
    title = title,
    footer = footer,
  })
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  fit_height(window)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', { buffer = bufnr, nowait = true })
  end
  return bufnr, window
end

---Makes a prompt available for editing after going back to before it.
---@param text any
---@param cwd string
function M.prompt(text, cwd)
  local chat = package.loaded['xcsh.chat']
  if type(text) == 'string' and not (chat and chat.edit(cwd, text)) then
    local bufnr = M.scratch('prompt', vim.split(text, '\n'))
    vim.bo[bufnr].modifiable = true
  end
end

return M
