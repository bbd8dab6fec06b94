-- The preview of a rewind in a tab of its own. Nothing happens before y. The key counts only once
-- the plan was on the screen for a moment, so that keys typed ahead, or twice, carry out nothing
-- that the user has not read.

local plans = require('xcsh.rewind.plan')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Time for which a plan must be visible, in milliseconds.
M.quiet = 500

local namespace = vim.api.nvim_create_namespace('xcsh_rewind')

---@class xcsh.rewind.Asks what the keys ask the server for
---@field carry_out fun(tab: xcsh.rewind.Tab)
---@field again fun(tab: xcsh.rewind.Tab, note?: string)
---@field across fun(tab: xcsh.rewind.Tab)

---@class xcsh.rewind.About
---@field cwd string
---@field title string
---@field plan table
---@field ask xcsh.rewind.Asks

---@class xcsh.rewind.Tab
---@field cwd string
---@field title string
---@field plan table
---@field left_out string[]
---@field bufnr integer
---@field window integer
---@field paths table<integer, string>
---@field busy boolean the server was asked and has not answered
---@field since integer when the plan was shown, in nanoseconds
---@field ask xcsh.rewind.Asks
local Tab = {}
Tab.__index = Tab

---@param tab xcsh.rewind.Tab
local function keys_of(tab)
  local parts = {}
  local possible = wire.num(tab.plan.conflicts) == 0 and not plans.is_empty(tab.plan)
  if possible then
    parts[#parts + 1] = 'y carry out'
  end
  if plans.needs_head(tab.plan) then
    parts[#parts + 1] = 'H undo across commits'
  end
  if wire.num(tab.plan.conflicts) > 0 then
    parts[#parts + 1] = 'X leave out the conflicts'
  end
  vim.list_extend(parts, { 'x leave out this file', '<CR> open it', 'R plan again', 'q close' })
  return table.concat(parts, ' · ')
end

---Shows a plan.
---@param note? string why it is another one
function Tab:show(note)
  local preview = plans.preview(self.plan, {
    cwd = self.cwd,
    title = self.title,
    note = note,
    keys = keys_of(self),
    left_out = self.left_out,
  })
  self.paths = preview.paths
  local cursor = vim.api.nvim_win_is_valid(self.window) and vim.api.nvim_win_get_cursor(self.window)
  view.fill(self.bufnr, preview.lines)
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  for _, mark in ipairs(preview.marks) do
    mark.opts.strict = false
    vim.api.nvim_buf_set_extmark(self.bufnr, namespace, mark.row - 1, mark.col, mark.opts)
  end
  if cursor then
    local last = vim.api.nvim_buf_line_count(self.bufnr)
    vim.api.nvim_win_set_cursor(self.window, { math.min(cursor[1], last), 0 })
  end
  self.busy, self.since = false, vim.uv.hrtime()
end

---@param tab xcsh.rewind.Tab
---@return string? path at the cursor
local function here(tab)
  local path = tab.paths[vim.api.nvim_win_get_cursor(tab.window)[1]]
  if not path then
    view.notify('No file here.')
  end
  return path
end

---Leaves a file out, or takes it in again.
local function toggle(tab)
  local path = here(tab)
  if not path then
    return
  end
  local others = vim.tbl_filter(function(other)
    return other ~= path
  end, tab.left_out)
  if #others == #tab.left_out then
    table.insert(others, path)
  end
  tab.left_out = others
  tab.ask.again(tab)
end

local function leave_out_conflicts(tab)
  for _, path in ipairs(wire.tbl(tab.plan.plan)) do
    if wire.tbl(path).action == 'conflict' then
      table.insert(tab.left_out, path.path)
    end
  end
  tab.ask.again(tab)
end

local function carry_out(tab)
  if wire.num(tab.plan.conflicts) > 0 then
    return view.notify('Some files cannot be undone. Press X to leave them out.')
  elseif plans.is_empty(tab.plan) then
    return view.notify('There is nothing to undo.')
  elseif (vim.uv.hrtime() - tab.since) / 1e6 < M.quiet then
    return view.notify('This plan has just appeared. Read it, then press y again.')
  end
  tab.busy = true
  tab.ask.carry_out(tab)
end

local function open_file(tab)
  local path = here(tab)
  if path and vim.uv.fs_stat(path) then
    vim.cmd('tab drop ' .. vim.fn.fnameescape(path))
  elseif path then
    view.notify('This file does not exist now.')
  end
end

---@type { lhs: string, does: string, run: fun(tab: xcsh.rewind.Tab) }[]
local keys = {
  { lhs = 'y', does = 'carry out the plan', run = carry_out },
  { lhs = 'x', does = 'leave out this file', run = toggle },
  { lhs = 'X', does = 'leave out the conflicts', run = leave_out_conflicts },
  {
    lhs = 'H',
    does = 'undo across commits',
    run = function(tab)
      tab.ask.across(tab)
    end,
  },
  {
    lhs = 'R',
    does = 'plan again',
    run = function(tab)
      tab.ask.again(tab)
    end,
  },
  { lhs = '<CR>', does = 'open this file', run = open_file },
  {
    lhs = 'q',
    does = 'close',
    run = function(tab)
      tab:close()
    end,
  },
}

---Closes the tab. Nothing has happened.
function Tab:close()
  if vim.api.nvim_win_is_valid(self.window) then
    pcall(vim.api.nvim_win_close, self.window, true)
  end
end

---Reports whether the tab is still open.
function Tab:is_open()
  return vim.api.nvim_buf_is_valid(self.bufnr) and vim.api.nvim_win_is_valid(self.window)
end

---@type xcsh.rewind.Tab? the last preview
local last

---Opens the preview, in place of an earlier one.
---@param about xcsh.rewind.About
---@return xcsh.rewind.Tab
function M.open(about)
  require('xcsh.highlights').define()
  if last then
    last:close()
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].filetype = 'xcsh-rewind'
  vim.api.nvim_buf_set_name(bufnr, 'xcsh://rewind')
  vim.cmd('tab split')
  local window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(window, bufnr)
  vim.wo[window][0].wrap, vim.wo[window][0].linebreak = true, true
  vim.wo[window][0].number, vim.wo[window][0].relativenumber = false, false
  vim.wo[window][0].spell, vim.wo[window][0].list = false, false
  local self = setmetatable({
    cwd = about.cwd,
    title = about.title,
    plan = about.plan,
    left_out = {},
    bufnr = bufnr,
    window = window,
    paths = {},
    busy = false,
    since = 0,
    ask = about.ask,
  }, Tab)
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key.lhs, function()
      if not self.busy or key.lhs == 'q' then
        key.run(self)
      end
    end, { buffer = bufnr, nowait = true, desc = 'xcsh: ' .. key.does })
  end
  self:show()
  local first = vim.iter(vim.tbl_keys(self.paths)):fold(math.huge, math.min)
  vim.api.nvim_win_set_cursor(window, { first < math.huge and first or 1, 0 })
  last = self
  return self
end

return M
