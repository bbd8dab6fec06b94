-- Opens files that a conversation mentions, next to the chat.

local view = require('xcsh.view')

local M = {}

---Returns the file at the cursor and its line; the path is relative to the chat's folder, or
---absolute.
---@param chat xcsh.chat.Chat
---@return string? path, integer? line
local function below_cursor(chat)
  local word = vim.fn.expand('<cWORD>')
  word = word:gsub('^[%p]*([~/.%w])', '%1'):gsub('[%)%]}>"\'`,;]+$', '')
  local candidates = { vim.fn.expand('<cfile>') }
  local name, line = word:match('^(.-):(%d+)')
  if name then
    table.insert(candidates, 1, name)
  end
  for _, candidate in ipairs(candidates) do
    local path = vim.fn.fnamemodify(candidate, ':p')
    if not candidate:find('^[/~]') and not candidate:find('^%a:[/\\]') then
      path = vim.fs.joinpath(chat.cwd, candidate)
    end
    local stat = candidate ~= '' and vim.uv.fs_stat(path)
    if stat and stat.type == 'file' then
      return vim.fs.normalize(path), candidate == name and tonumber(line) or nil
    end
  end
end

---Moves the cursor to a window for files: the last used one that shows no chat, else a new one.
function M.go_to_window()
  local function is_free(window)
    local bufnr = vim.api.nvim_win_get_buf(window)
    return vim.api.nvim_win_get_config(window).relative == ''
      and vim.bo[bufnr].buftype == ''
      and not vim.wo[window].winfixbuf
  end
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  local windows = vim.api.nvim_tabpage_list_wins(0)
  table.insert(windows, 1, before)
  for _, window in ipairs(windows) do
    if window ~= 0 and is_free(window) then
      return vim.api.nvim_set_current_win(window)
    end
  end
  vim.cmd('topleft vertical new')
end

---@param path string
---@param line? integer
function M.show(path, line)
  M.go_to_window()
  vim.cmd.edit(vim.fn.fnameescape(path))
  if line then
    line = math.min(line, vim.api.nvim_buf_line_count(0))
    vim.api.nvim_win_set_cursor(0, { math.max(line, 1), 0 })
  end
end

---@param chat xcsh.chat.Chat
function M.open(chat)
  local path, line = below_cursor(chat)
  if not path then
    return view.notify('No file under the cursor.')
  end
  M.show(path, line)
end

---Opens the file at the cursor, toggles the fold there, or loads the missing messages there.
---@param chat xcsh.chat.Chat
function M.enter(chat)
  if require('xcsh.chat.scroll').enter(chat) then
    return
  end
  local path, line = below_cursor(chat)
  if path and vim.fn.foldclosed('.') == -1 then
    return M.show(path, line)
  end
  if vim.fn.foldlevel('.') > 0 then
    return vim.cmd('normal! za')
  end
end

return M
