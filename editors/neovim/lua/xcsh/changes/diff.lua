-- Goes through the files with pending changes in diff mode: on the left the text without the
-- changes, on the right the file. The file can be edited there, and |do| takes lines back.

local client = require('xcsh.client')
local intents = require('xcsh.intent')
local scratch = require('xcsh.scratch')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

local serial = 0

---@class xcsh.changes.Diff the tab
---@field cwd string
---@field left integer window
---@field right integer window
---@field path string
---@field base string address of the text on the left
---@field bufnr integer the buffer on the left

---@type xcsh.changes.Diff?
local tab

---@return boolean
local function is_open()
  local open = tab ~= nil
    and vim.api.nvim_win_is_valid(tab.left)
    and vim.api.nvim_win_is_valid(tab.right)
  if not open then
    tab = nil
  end
  return open
end

---Requests the text of a file without its pending changes.
---@param cwd string
---@param path string
---@param done fun(lines: string[]?, problem: string?)
local function base_of(cwd, path, done)
  local args = { cwd = cwd, path = path, side = 'base' }
  client.execute('xcsh.change', args, function(err, side)
    side = wire.tbl(side)
    if err then
      return done(nil, err.message)
    elseif side.binary == true then
      return done(nil, ('%s is not a text.'):format(vim.fs.basename(path)))
    end
    -- A file that the session created has no base.
    local _, lines = scratch.split(wire.str(side.text))
    done(lines)
  end)
end

---@param path string
---@param cwd string
local function name_of(path, cwd)
  local root = cwd:gsub('/*$', '/')
  local name = vim.startswith(path, root) and path:sub(#root + 1) or path
  return (text.one_line(name, 60))
end

---@param lhs string|false
---@param said string
local function key_hint(lhs, said)
  return lhs and ('%s %s'):format(lhs, said) or nil
end

---@param file xcsh.wire.ChangedFile
---@param i integer
---@param count integer
local function bars(file, i, count)
  local keys = require('xcsh.config').changes().keys
  local name = name_of(file.path, tab.cwd):gsub('%%', '%%%%')
  local hints = {}
  for _, hint in ipairs({
    key_hint(keys.next_file, 'next file') or '',
    key_hint(keys.keep, 'keep') or '',
    key_hint(keys.undo, 'undo') or '',
  }) do
    if hint ~= '' then
      hints[#hints + 1] = hint
    end
  end
  vim.wo[tab.left].winbar = (' %s without the changes%%<'):format(name)
  local right = (' %s · %d of %d · %s%%<'):format(name, i, count, table.concat(hints, ' · '))
  vim.wo[tab.right].winbar = right
end

---Reports whether a buffer is in the tab, beside its text without the changes.
---@param bufnr integer
function M.has(bufnr)
  return is_open() and vim.api.nvim_win_get_buf(tab.right) == bufnr
end

---Maps the keys that go through the files in a buffer of the tab.
---@param bufnr integer
function M.map(bufnr)
  if M.has(bufnr) then
    require('xcsh.changes.keys').map(bufnr, { 'next_file', 'previous_file' })
  end
end

---Shows a buffer as elsewhere, because it is no longer in the tab.
---@param bufnr integer
local function leave(bufnr)
  local marks = require('xcsh.changes.marks')
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  elseif marks.of(bufnr) then
    return marks.draw(bufnr)
  end
  require('xcsh.changes.keys').unmap(bufnr)
end

---@param bufnr integer
local function map_left(bufnr)
  require('xcsh.changes.keys').map(bufnr, { 'next_file', 'previous_file' })
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = bufnr, desc = 'xcsh: close the tab' })
end

---@param cwd string
local function open_tab(cwd)
  vim.cmd('tab split')
  local right = vim.api.nvim_get_current_win()
  vim.cmd('leftabove vertical split')
  local left = vim.api.nvim_get_current_win()
  tab = { cwd = cwd, left = left, right = right, path = '', base = '', bufnr = -1 }
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(right),
    once = true,
    callback = function()
      local bufnr = vim.api.nvim_win_get_buf(right)
      tab = nil
      leave(bufnr)
    end,
  })
end

---Returns the buffer of the file itself, or an empty one for a file that is gone.
---@param path string
---@param name string
local function file_buffer(path, name)
  if not vim.uv.fs_lstat(path) and vim.fn.bufloaded(path) == 0 then
    serial = serial + 1
    local bufnr = scratch.new(('xcsh-change://%d/%s, deleted'):format(serial, name), {}, path)
    vim.bo[bufnr].modifiable = false
    map_left(bufnr)
    return bufnr
  end
  local bufnr = vim.fn.bufadd(path)
  vim.fn.bufload(bufnr)
  vim.bo[bufnr].buflisted = true
  return bufnr
end

---@param file xcsh.wire.ChangedFile
---@param lines string[] of the base
---@param i integer
---@param count integer
local function show(file, lines, i, count)
  vim.api.nvim_set_current_tabpage(vim.api.nvim_win_get_tabpage(tab.right))
  for _, window in ipairs({ tab.left, tab.right }) do
    vim.api.nvim_win_call(window, function()
      vim.cmd('diffoff')
    end)
  end
  serial = serial + 1
  local name = name_of(file.path, tab.cwd)
  local bufnr = scratch.new(('xcsh-change://%d/%s'):format(serial, name), lines, file.path)
  vim.bo[bufnr].modifiable = false
  map_left(bufnr)
  local before = vim.api.nvim_win_get_buf(tab.right)
  local right = file_buffer(file.path, name)
  vim.api.nvim_win_set_buf(tab.right, right)
  leave(before)
  M.map(right)
  require('xcsh.changes.marks').draw(right)
  vim.api.nvim_win_set_buf(tab.left, bufnr)
  scratch.compare({ tab.left, tab.right })
  tab.path, tab.base, tab.bufnr = file.path, wire.str(file.base), bufnr
  bars(file, i, count)
  vim.api.nvim_set_current_win(tab.right)
  pcall(vim.cmd, 'normal! gg]c')
end

---Opens a file, or the next one that can be shown.
---@param cwd string
---@param files xcsh.wire.ChangedFile[]
---@param i integer
---@param step 1|-1
---@param left integer files that may be tried
---@param intent xcsh.Intent
local function open(cwd, files, i, step, left, intent)
  local file = files[i]
  base_of(cwd, file.path, function(lines, problem)
    if not lines then
      if left > 1 then
        local following = (i - 1 + step) % #files + 1
        return open(cwd, files, following, step, left - 1, intent)
      end
      return view.notify(problem or 'The files cannot be compared.', vim.log.levels.WARN)
    end
    intent:show(cwd, 'Compare ' .. name_of(file.path, cwd), function()
      if not is_open() or tab.cwd ~= cwd then
        open_tab(cwd)
      end
      show(file, lines, i, #files)
    end)
  end)
end

---Returns the number of the file to show next.
---@param files xcsh.wire.ChangedFile[]
---@param step 1|-1
---@return integer
local function next_of(files, step)
  local inside = is_open()
    and vim.api.nvim_get_current_tabpage() == vim.api.nvim_win_get_tabpage(tab.right)
  local here = inside and tab.path or vim.api.nvim_buf_get_name(0)
  for i, file in ipairs(files) do
    if file.path == here then
      -- From outside, the file of the window is the first one.
      return inside and (i - 1 + step) % #files + 1 or i
    elseif inside and file.path > here then
      return step == 1 and i or (i - 2) % #files + 1 -- the file has nothing left to review
    end
  end
  return step == 1 and 1 or #files
end

---Compares the next file, or the previous one.
---@param step 1|-1
---@param cwd? string
function M.step(step, cwd)
  cwd = cwd or is_open() and tab.cwd or require('xcsh.config').root()
  local owned = require('xcsh.changes.marks').of(vim.api.nvim_get_current_buf())
  cwd = owned and owned.cwd or cwd
  local intent = intents.begin()
  require('xcsh.changes.pending').files(cwd, function(err, files)
    if err or #files == 0 then
      intent:finish()
      return view.error(err or { message = 'No changes to review.', data = { kind = 'cancelled' } })
    end
    open(cwd, files, next_of(files, step), step, #files, intent)
  end)
end

---Reads the left side again if the tab is open: what was kept is on both sides.
---@param bufnr integer whose hunks are known now
function M.refresh(bufnr)
  if not is_open() or vim.api.nvim_win_get_buf(tab.right) ~= bufnr then
    return
  end
  local entry = tab
  local shown = require('xcsh.changes.marks').of(bufnr)
  if shown and shown.path == entry.path and shown.base == entry.base and entry.base ~= '' then
    return
  end
  base_of(entry.cwd, entry.path, function(lines)
    if lines and tab == entry and is_open() and vim.api.nvim_buf_is_valid(entry.bufnr) then
      entry.base = shown and shown.base or ''
      scratch.fill(entry.bufnr, lines)
      vim.api.nvim_win_call(entry.right, function()
        vim.cmd('diffupdate')
      end)
    end
  end)
end

return M
