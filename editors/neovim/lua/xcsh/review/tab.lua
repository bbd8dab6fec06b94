-- A proposed change in a tab of its own: the file's text beside the proposed one, in diff mode. The
-- proposed text can be edited. :w accepts what it contains then, :q rejects the change. Both are
-- scratch buffers, so that a file that does not exist yet is not created, and no file type plugin
-- or language server takes the proposal for the file.

local scratch = require('xcsh.scratch')
local view = require('xcsh.view')

local M = {}

---@class xcsh.review.Tab
---@field proposal xcsh.review.Proposal
---@field page integer
---@field left integer window
---@field right integer window
---@field bufnr integer of the proposed text
---@field over boolean it is decided, or no longer pending
---@field answer fun(content?: string) accepts a text; nil rejects the change
local Tab = {}
Tab.__index = Tab

local keys = ':w accept · :q reject · gxu leave out'
local serial = 0

---@param self xcsh.review.Tab
local function bars(self, right)
  local name = require('xcsh.text').one_line(self.proposal.name, 60):gsub('%%', '%%%%')
  vim.wo[self.left].winbar = ' ' .. name .. ' now'
  vim.wo[self.right].winbar = ' ' .. name .. ', proposed · ' .. right .. '%<'
end

---@param self xcsh.review.Tab
---@param form xcsh.scratch.Form
local function watch(self, form)
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = self.bufnr,
    callback = function()
      if self.over then
        return view.notify('The change is no longer pending.')
      end
      self.over = true
      local content = scratch.joined(self.bufnr, form)
      vim.bo[self.bufnr].modified = false
      self.answer(content)
      view.notify(('Accepted the change to %s.'):format(self.proposal.name))
      -- :wq closes the window itself.
      vim.schedule(function()
        self:close()
      end)
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(self.right),
    once = true,
    callback = function()
      if not self.over then
        self.over = true
        self.answer(nil)
        view.notify(('Rejected the change to %s.'):format(self.proposal.name))
      end
      vim.schedule(function()
        self:close()
      end)
    end,
  })
end

local compare = vim.text and vim.text.diff or vim.diff

---Replaces the hunk at the cursor by the lines of the file. The command :diffget takes parts of a
---hunk.
---@param self xcsh.review.Tab
local function leave_out(self)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local old = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(self.left), 0, -1, true)
  local new = vim.api.nvim_buf_get_lines(self.bufnr, 0, -1, true)
  local texts = { table.concat(old, '\n') .. '\n', table.concat(new, '\n') .. '\n' }
  local hunks = compare(texts[1], texts[2], { result_type = 'indices' })
  for _, at in
    ipairs(hunks --[[@as integer[][] ]])
  do
    local old_first, old_count, new_first, new_count = unpack(at)
    -- For an empty range, the number is that of the preceding line.
    new_first = new_count == 0 and new_first + 1 or new_first
    local inside = row >= new_first and row < new_first + math.max(new_count, 1)
    if inside or new_count == 0 and row == new_first - 1 then
      local lines = vim.list_slice(old, old_first, old_first + old_count - 1)
      vim.api.nvim_buf_set_lines(self.bufnr, new_first - 1, new_first - 1 + new_count, true, lines)
      return vim.cmd.diffupdate()
    end
  end
  view.notify('There is no hunk at the cursor.')
end

---@param self xcsh.review.Tab
local function map(self)
  local function press(lhs, keys_of, does)
    vim.keymap.set('n', lhs, keys_of, { buffer = self.bufnr, desc = 'xcsh: ' .. does })
  end
  press('gxu', function()
    leave_out(self)
  end, 'leave out this hunk')
  press(']x', ']c', 'go to the next hunk')
  press('[x', '[c', 'go to the previous hunk')
  press('gxk', ']c', 'keep this hunk')
  press('gxK', '<Cmd>write<CR>', 'accept the change')
  press('gxU', '<Cmd>quit!<CR>', 'reject the change')
end

---Opens the tab and moves the cursor to the first hunk of the proposed text.
---@param proposal xcsh.review.Proposal
---@param answer fun(content?: string)
---@return xcsh.review.Tab
function M.open(proposal, answer)
  local self = setmetatable({ proposal = proposal, over = false, answer = answer }, Tab)
  serial = serial + 1
  local name = ('xcsh-review://%d/'):format(serial)
  local _, old = scratch.split(proposal.before)
  local form, new = scratch.split(proposal.after)
  local before = scratch.new(name .. 'now/' .. proposal.name, old, proposal.path)
  self.bufnr = scratch.new(name .. proposal.name, new, proposal.path)
  vim.bo[before].modifiable = false
  vim.bo[self.bufnr].buftype = 'acwrite'
  vim.bo[self.bufnr].modifiable = proposal.revisable
  vim.bo[self.bufnr].modified = false
  vim.cmd('tab split')
  self.page = vim.api.nvim_get_current_tabpage()
  self.left = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(self.left, before)
  vim.cmd('rightbelow vertical split')
  self.right = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(self.right, self.bufnr)
  scratch.compare({ self.left, self.right })
  for _, window in ipairs({ self.left, self.right }) do
    vim.wo[window].signcolumn = 'no'
  end
  bars(self, keys)
  watch(self, form)
  map(self)
  local first = proposal.hunks[1] and proposal.hunks[1].first or 1
  local row = math.max(1, math.min(first, vim.api.nvim_buf_line_count(self.bufnr)))
  vim.api.nvim_win_set_cursor(self.right, { row, 0 })
  return self
end

---Closes the windows that are still open.
function Tab:close()
  for _, window in ipairs({ self.left, self.right }) do
    if vim.api.nvim_win_is_valid(window) then
      pcall(vim.api.nvim_win_close, window, true)
    end
  end
end

---Moves the cursor into the tab; returns false if it is closed.
function Tab:focus()
  if vim.api.nvim_win_is_valid(self.right) then
    vim.api.nvim_set_current_win(self.right)
    return true
  end
  return false
end

---Marks the change as no longer pending. A tab that the user looks at stays open, so that the next
---key does not go to the text below it.
function Tab:expire()
  if self.over then
    return
  end
  self.over = true
  if not vim.api.nvim_win_is_valid(self.right) then
    return
  elseif vim.api.nvim_get_current_tabpage() ~= self.page then
    return self:close()
  end
  bars(self, 'no longer pending · :q close')
  vim.bo[self.bufnr].modified = false
end

return M
