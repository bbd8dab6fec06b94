-- The keys of a buffer with pending hunks. Those of a proposed change come first while one is
-- pending, and mappings of the user's always.

local config = require('xcsh.config')
local marks = require('xcsh.changes.marks')

local M = {}

---The keys that are mapped in each buffer: modes and name.
---@type table<integer, { mode: string, lhs: string }[]>
local mapped = {}

---Moves the cursor to the next hunk, or to the previous one; the end is followed by the beginning.
---@param step 1|-1
function M.move(step)
  local rows = marks.rows(vim.api.nvim_get_current_buf())
  local here = vim.api.nvim_win_get_cursor(0)[1]
  local from, to = step == 1 and 1 or #rows, step == 1 and #rows or 1
  local target = rows[from]
  for i = from, to, step do
    if (rows[i] - here) * step > 0 then
      target = rows[i]
      break
    end
  end
  if not target then
    return require('xcsh.view').notify('This file has no changes to review.')
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { target, 0 })
end

---Returns the lines of the cursor, or of the selection, which ends.
---@return integer first, integer last
local function range()
  local here = vim.api.nvim_win_get_cursor(0)[1]
  if not vim.api.nvim_get_mode().mode:find('^[vV\22]') then
    return here, here
  end
  local other = vim.fn.line('v')
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  return math.min(here, other), math.max(here, other)
end

---@param name 'keep'|'undo'
---@param all? boolean the whole file
local function decide(name, all)
  return function()
    local bufnr = vim.api.nvim_get_current_buf()
    local first, last = range()
    if all then
      first, last = 1, math.huge
    end
    require('xcsh.changes.decide')[name](bufnr, marks.within(bufnr, first, last))
  end
end

---@class xcsh.changes.Key
---@field name string in the settings
---@field lhs string the default
---@field does string
---@field run fun()
---@field visual? boolean

---@type xcsh.changes.Key[]
M.all = {
  {
    name = 'next',
    lhs = ']x',
    does = 'go to the next change',
    run = function()
      M.move(1)
    end,
  },
  {
    name = 'previous',
    lhs = '[x',
    does = 'go to the previous change',
    run = function()
      M.move(-1)
    end,
  },
  { name = 'keep', lhs = 'gxk', does = 'keep this change', run = decide('keep'), visual = true },
  { name = 'undo', lhs = 'gxu', does = 'undo this change', run = decide('undo'), visual = true },
  { name = 'keep_file', lhs = 'gxK', does = 'keep all changes', run = decide('keep', true) },
  { name = 'undo_file', lhs = 'gxU', does = 'undo all changes', run = decide('undo', true) },
  {
    name = 'next_file',
    lhs = ']f',
    does = 'compare the next file',
    run = function()
      require('xcsh.changes.diff').step(1)
    end,
  },
  {
    name = 'previous_file',
    lhs = '[f',
    does = 'compare the previous file',
    run = function()
      require('xcsh.changes.diff').step(-1)
    end,
  },
}

---@param bufnr integer
---@param mode string
---@param lhs string
local function is_taken(bufnr, mode, lhs)
  return vim.iter(vim.api.nvim_buf_get_keymap(bufnr, mode)):any(function(map)
    return map.lhs == lhs
  end)
end

---Maps the keys in a buffer.
---@param bufnr integer
---@param only? string[] the names of these keys
function M.map(bufnr, only)
  local keys = config.changes().keys
  mapped[bufnr] = mapped[bufnr] or {}
  for _, key in ipairs(M.all) do
    local lhs = keys[key.name]
    for _, mode in ipairs(key.visual and { 'n', 'x' } or { 'n' }) do
      local wanted = lhs and (not only or vim.tbl_contains(only, key.name))
      if wanted and not is_taken(bufnr, mode, lhs) then
        vim.keymap.set(mode, lhs, key.run, { buffer = bufnr, desc = 'xcsh: ' .. key.does })
        table.insert(mapped[bufnr], { mode = mode, lhs = lhs })
      end
    end
  end
end

---Removes the keys from a buffer.
---@param bufnr integer
function M.unmap(bufnr)
  for _, map in ipairs(mapped[bufnr] or {}) do
    pcall(vim.keymap.del, map.mode, map.lhs, { buffer = bufnr })
  end
  mapped[bufnr] = nil
end

---Maps the keys again that a proposed change had.
---@param bufnr integer
function M.back(bufnr)
  if marks.of(bufnr) then
    M.unmap(bufnr)
    M.map(bufnr)
  end
end

return M
