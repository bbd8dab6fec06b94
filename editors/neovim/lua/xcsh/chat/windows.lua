-- The windows of a chat: the conversation at the side, the prompt below it.

local config = require('xcsh.config')
local engines = require('xcsh.engine')
local layout = require('xcsh.chat.layout')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---Highlighting longer text as Markdown would block the editor.
local max_coloured = 2 * 1024 * 1024 -- bytes

---@param cwd string
---@return integer bufnr
function M.conversation(cwd)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, 'xcsh://chat' .. cwd)
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = 'xcsh'
  return bufnr
end

---Highlights the conversation as Markdown, with the available highlighter.
---@param bufnr integer
local function colour(bufnr)
  local size = vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr))
  local wanted = size <= max_coloured
  if vim.b[bufnr].xcsh_coloured == wanted then
    return
  end
  vim.b[bufnr].xcsh_coloured = wanted
  if not wanted then
    pcall(vim.treesitter.stop, bufnr)
    vim.bo[bufnr].syntax = ''
    return
  end
  if not pcall(vim.treesitter.start, bufnr, 'markdown') then
    vim.bo[bufnr].synmaxcol = text.max_line
    vim.bo[bufnr].syntax = 'markdown'
  end
end

---Sets the options of a window that shows a conversation.
---@param window integer
local function dress(window)
  local options = {
    wrap = true,
    linebreak = true,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    spell = false,
    list = false,
    conceallevel = 0,
    foldmethod = 'manual',
    foldtext = '',
    foldlevel = 0,
    foldminlines = 0,
    foldenable = true,
    cursorline = false,
    winfixwidth = true,
    winbar = " %{v:lua.require'xcsh.chat.windows'.bar()}",
    statusline = ' xcsh%=%P ',
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = 'local' })
  end
  vim.api.nvim_win_call(window, function()
    vim.opt_local.fillchars:append({ fold = ' ' })
  end)
end

---@param bufnr integer
---@return integer? window in this tab
local function window_of(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  return window ~= -1 and window or nil
end

---@param chat xcsh.chat.Chat
local function open_conversation(chat)
  local window = window_of(chat.bufnr)
  if window then
    return window
  end
  local options = config.chat()
  if options.position == 'current' then
    vim.api.nvim_win_set_buf(0, chat.bufnr)
  else
    local where = { right = 'botright vertical', left = 'topleft vertical', bottom = 'botright' }
    local is_below = options.position == 'bottom'
    local size = is_below and options.height or options.width
    chat.layout = { before = layout.read() }
    vim.cmd(('%s %dsplit'):format(where[options.position], size()))
    vim.api.nvim_win_set_buf(0, chat.bufnr)
    layout.share(chat.layout.before, vim.api.nvim_get_current_win(), is_below and 2 or 1)
  end
  window = vim.api.nvim_get_current_win()
  dress(window)
  require('xcsh.chat.render').fold_all(chat.bufnr, window)
  colour(chat.bufnr)
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(chat.bufnr), 0 })
  return window
end

---Shows both windows and moves the cursor to the prompt.
---@param chat xcsh.chat.Chat
function M.show(chat)
  local conversation = open_conversation(chat)
  local input = window_of(chat.input)
  if not input then
    vim.api.nvim_set_current_win(conversation)
    vim.cmd(('belowright %dsplit'):format(config.chat().prompt_height))
    input = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(input, chat.input)
    for name, value in pairs({
      wrap = true,
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      foldcolumn = '0',
      foldenable = false,
      winfixheight = true,
      winbar = '',
      statusline = ' %{v:lua.require\'xcsh.chat.windows\'.bar("input")}%<',
    }) do
      vim.api.nvim_set_option_value(name, value, { win = input, scope = 'local' })
    end
  end
  vim.api.nvim_set_current_win(input)
  if chat.layout and not chat.layout.after then
    chat.layout.after = layout.read()
  end
end

---@param chat xcsh.chat.Chat
function M.hide(chat)
  local sizes, now = chat.layout, layout.read()
  chat.layout = nil
  for _, bufnr in ipairs({ chat.input, chat.bufnr }) do
    for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
      -- The last window of Neovim cannot be closed.
      if not pcall(vim.api.nvim_win_close, window, true) then
        vim.api.nvim_win_call(window, function()
          vim.cmd.enew()
        end)
      end
    end
  end
  if sizes and sizes.after then
    layout.restore(sizes.before, sizes.after, now)
  end
end

---Handles a window of the chat that the user closes, as with :q. The prompt goes with the
---conversation, and with the last window the others get their sizes back.
---@param chat xcsh.chat.Chat
---@param closing integer
function M.closed(chat, closing)
  local sizes = chat.layout
  if not sizes then
    return
  end
  local now = layout.read()
  local left = vim.tbl_filter(function(window)
    return window ~= closing and vim.api.nvim_win_is_valid(window)
  end, vim.list_extend(vim.fn.win_findbuf(chat.input), vim.fn.win_findbuf(chat.bufnr)))
  local is_conversation = vim.api.nvim_win_get_buf(closing) == chat.bufnr
  local only_prompts = vim.iter(left):all(function(window)
    return vim.api.nvim_win_get_buf(window) == chat.input
  end)
  if not only_prompts or (#left > 0 and not is_conversation) then
    return
  end
  chat.layout = nil
  vim.schedule(function()
    for _, window in ipairs(left) do
      local is_prompt = vim.api.nvim_win_is_valid(window)
        and vim.api.nvim_win_get_buf(window) == chat.input
      if is_prompt then
        pcall(vim.api.nvim_win_close, window, true)
      end
    end
    if sizes.after then
      layout.restore(sizes.before, sizes.after, now)
    end
  end)
end

---@param chat xcsh.chat.Chat
function M.refresh(chat)
  if window_of(chat.bufnr) then
    colour(chat.bufnr)
    vim.cmd.redrawstatus({ bang = true })
  end
end

---Returns the content of the bar above a conversation: title, engine, model, modes, context usage
---and cost.
---@param chat xcsh.chat.Chat
---@return string
function M.about(chat)
  local s = chat.state
  local session = wire.tbl(s.session)
  local title = wire.str(session.title)
  local model = wire.tbl(session.model)
  local pending, reads = wire.pending(session)
  local name = pending.title and '…' or vim.fs.basename(chat.cwd)
  local parts = { title ~= '' and text.one_line(title, 60) or name }
  local engine = engines.bar(session.engine)
  parts[#parts + 1] = engine
  -- The model of another program is known once it has started.
  local unknown = engine and wire.str(model.id) == ''
  if not pending.model and not unknown then
    parts[#parts + 1] = wire.str(model.id) ~= '' and text.one_line(model.id, 40) or 'no model'
  end
  local level = wire.str(session.thinkingLevel)
  if level ~= '' and level ~= 'off' then
    parts[#parts + 1] = level
  end
  local mode = wire.str(session.approvalMode)
  if mode ~= '' and mode ~= 'ask' then
    parts[#parts + 1] = require('xcsh.labels').mode(mode)
  end
  local plan = { plan = 'plan mode', plan_paused = 'plan mode paused' }
  parts[#parts + 1] = plan[wire.str(session.mode)]
  if reads then
    parts[#parts + 1] = 'reading the session…'
    return table.concat(parts, ' · ')
  end
  if wire.num(s.context.percent) >= 1 then
    parts[#parts + 1] = ('%d%% context used'):format(s.context.percent)
  end
  local cost = wire.num(wire.tbl(session.usage).cost)
  if cost > 0 then
    parts[#parts + 1] = ('$%.2f'):format(cost)
  end
  return table.concat(parts, ' · ')
end

---Reports whether the engine can do something, as far as is known.
---@param chat xcsh.chat.Chat
---@param what string
function M.can(chat, what)
  local engine = wire.tbl(wire.tbl(chat.state.session).engine)
  return not engines.hosted(engine) or not engine.can or engine.can[what] == true
end

---Returns the winbar of the window that is being drawn.
---@param which? 'input'
---@return string
function M.bar(which)
  local chat = require('xcsh.chat').of_buffer(vim.api.nvim_get_current_buf())
  if not chat then
    return ''
  end
  if which ~= 'input' then
    return M.about(chat)
  end
  if #chat.state.approvals > 0 then
    return 'a allow · s allow for session · d deny'
  elseif require('xcsh.waiting').asks(chat.cwd) then
    return 'question pending · :XcshApprovals'
  elseif chat.state.running and not M.can(chat, 'steer') then
    return '<C-f> queue · <C-c> stop'
  elseif chat.state.running then
    return '<C-s> send now · <C-f> queue · <C-c> stop'
  end
  local labels = vim.tbl_map(function(lines)
    return '⎘ ' .. text.one_line(lines.label, 60) .. ' · '
  end, chat.attached)
  return table.concat(labels) .. '<CR> or <C-s> send · g? keys'
end

return M
