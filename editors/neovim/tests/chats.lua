-- Drives a chat like a user: opens it, writes into it, waits for it.

local harness = require('harness')
local runner = require('runner')
local wait = runner.wait

local M = {}

---@param options? table<string, any>
function M.demo(options)
  options = vim.tbl_extend('keep', options or {}, { model = 'offline/demo' })
  require('xcsh').setup({ init_options = options })
end

---@param name string
---@param lines string[]
---@return string path
function M.file(name, lines)
  local path = harness.folder('work') .. '/' .. name
  vim.fn.writefile(lines, path)
  return path
end

---Opens the chat and waits until it shows the session.
---@param cwd? string
function M.open(cwd)
  local chat = require('xcsh.chat').open(cwd)
  wait('the session in the chat', function()
    return chat.state.sync.live
  end)
  return chat
end

function M.text_of(chat)
  return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), '\n')
end

---@param pattern string
function M.wait_for(chat, pattern)
  return wait('the chat to show ' .. pattern, function()
    return M.text_of(chat):find(pattern)
  end)
end

---Waits until the turn has ended and everything is drawn.
function M.settled(chat)
  wait('the turn to be over', function()
    return chat.state.sync.live and not chat.state.running and not chat.pending
  end)
end

function M.press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

function M.window_of(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  assert(window ~= -1, 'it is not on the screen')
  return window
end

---Writes into the prompt and presses a key there.
function M.send(chat, text, key)
  vim.api.nvim_set_current_win(M.window_of(chat.input))
  require('xcsh.chat.input').set(chat, text)
  M.press(key or '<CR>')
end

---Moves the cursor of the conversation to the first line that contains the text.
function M.at(chat, text)
  local window = M.window_of(chat.bufnr)
  vim.api.nvim_set_current_win(window)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then
      vim.api.nvim_win_set_cursor(window, { row, 0 })
      return row
    end
  end
  error(('no line has %q:\n%s'):format(text, M.text_of(chat)))
end

---Returns the number of lines folded below a line; nil if there is no closed fold.
function M.closed(chat, text)
  local row = M.at(chat, text)
  return vim.fn.foldclosed(row) == row and vim.fn.foldclosedend(row) - row or nil
end

function M.user_messages(chat)
  local said = {}
  for _, item in ipairs(chat.state.items) do
    if item.message.role == 'user' then
      table.insert(said, require('xcsh.wire').text_of(item.message))
    end
  end
  return said
end

function M.prompt_text(chat)
  return require('xcsh.chat.input').text(chat)
end

return M
