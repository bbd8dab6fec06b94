-- Reviews of proposed changes: as marks in the file, or in a diff tab (setting "review"). Marks
-- appear in an open file as soon as the change is proposed; nothing opens, and the cursor does not
-- move, until the user asks for it with :XcshReview. Once every hunk is decided, the server gets
-- the answer.

local approvals = require('xcsh.approvals')
local config = require('xcsh.config')
local marks = require('xcsh.review.marks')
local proposals = require('xcsh.review.proposal')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.Review
---@field entry xcsh.WaitingApproval
---@field proposal xcsh.review.Proposal
---@field marks? xcsh.review.Marks
---@field tab? xcsh.review.Tab
---@field over boolean
local Review = {}
Review.__index = Review

---The reviews that have marks, by buffer.
---@type table<integer, xcsh.Review>
local marked = {}

---@param content string the file's text
---@param base string the text that it replaces
function Review:revise(content, base)
  approvals.revise(self.entry, content, proposals.sum(base))
end

---Sends the answer that the decisions of all hunks make.
function Review:finish()
  if self.over then
    return
  end
  local content, base, kept = self.marks:with(function(mark)
    return mark.decision == 'kept'
  end)
  local whole = kept == #self.marks.marks and base == self.proposal.before
  if kept == 0 then
    self.entry.settle('deny')
  elseif whole or not self.proposal.revisable then
    self.entry.settle('once')
  else
    self:revise(content, base)
  end
end

---@param decision 'kept'|'undone'
---@param all? boolean
function Review:decide(decision, all)
  if self.over then
    return view.notify('The change is no longer pending.')
  end
  local here = self.marks:nearest(vim.api.nvim_win_get_cursor(0)[1])
  if not here then
    return
  elseif all then
    for _, mark in ipairs(self.marks.marks) do
      mark.decision = decision
    end
  elseif not self.proposal.revisable then
    local line = '%s makes this change as a whole: gxK keeps it, gxU rejects it.'
    return view.notify(line:format(wire.str(self.entry.params.hosted)))
  elseif decision == 'kept' and not self.marks:applies(here) then
    return view.notify('You have edited these lines, so this hunk cannot be kept.')
  else
    here.decision = decision
  end
  if self.marks:complete() then
    return self:finish()
  end
  self.marks:draw()
  self:move(1)
end

---Moves the cursor to the next hunk, or to the previous one; the end is followed by the beginning.
---@param step 1|-1
function Review:move(step)
  local row, list = vim.api.nvim_win_get_cursor(0)[1], self.marks.marks
  local from, to = step == 1 and 1 or #list, step == 1 and #list or 1
  local target ---@type integer?
  for i = from, to, step do
    local at = self.marks:row(list[i])
    if (at - row) * step > 0 then
      target = at
      break
    end
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { target or self.marks:row(list[from]), 0 })
end

---@return { lhs: string, does: string, run: fun() }[]
function Review:keys()
  local function decide(decision, all)
    return function()
      self:decide(decision, all)
    end
  end
  local function move(step)
    return function()
      self:move(step)
    end
  end
  return {
    { lhs = ']x', does = 'go to the next hunk of the proposed change', run = move(1) },
    { lhs = '[x', does = 'go to the previous hunk', run = move(-1) },
    { lhs = 'gxk', does = 'keep this hunk', run = decide('kept') },
    { lhs = 'gxu', does = 'leave out this hunk', run = decide('undone') },
    { lhs = 'gxK', does = 'keep the whole change', run = decide('kept', true) },
    { lhs = 'gxU', does = 'reject the whole change', run = decide('undone', true) },
  }
end

---Marks the change in its file, if that is loaded.
---@return boolean
function Review:mark()
  if self.marks then
    return true
  end
  local bufnr = proposals.buffer(self.proposal.path)
  if not bufnr or marked[bufnr] or proposals.text_of(bufnr) ~= self.proposal.before then
    return false
  end
  self.marks = marks.new(bufnr, self.proposal, function()
    self:unmark()
  end)
  self.marks:map(self:keys())
  marked[bufnr] = self
  return true
end

---Removes the marks; the change is still pending.
function Review:unmark()
  if self.marks then
    marked[self.marks.bufnr] = nil
    self.marks:clear()
    self.marks = nil
  end
end

---Ends the review: the change was answered, or is not pending any more.
function Review:forget()
  self.over = true
  self:unmark()
  if self.tab then
    self.tab:expire()
  end
end

---Shows a buffer in its window, or in one for files.
---@param bufnr integer
local function show_buffer(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  if window ~= -1 then
    return vim.api.nvim_set_current_win(window)
  end
  if vim.bo.buftype ~= '' or vim.wo.winfixbuf then
    require('xcsh.chat.paths').go_to_window()
  end
  -- Fails in a window with unsaved changes, without 'hidden'.
  if not pcall(vim.api.nvim_win_set_buf, 0, bufnr) then
    vim.cmd.split()
    vim.api.nvim_win_set_buf(0, bufnr)
  end
end

---Shows the marks, and moves the cursor to the nearest undecided hunk.
---@return boolean
function Review:show_marks()
  local path = self.proposal.path
  if self.proposal.bom or not vim.uv.fs_stat(path) then
    return false
  end
  local bufnr = proposals.buffer(path)
  if not bufnr then
    bufnr = vim.fn.bufadd(path)
    vim.fn.bufload(bufnr)
    vim.bo[bufnr].buflisted = true
  end
  if not self:mark() then
    return false
  end
  show_buffer(bufnr)
  local undecided = self.marks:nearest(vim.api.nvim_win_get_cursor(0)[1], function(mark)
    return mark.decision == nil
  end)
  if undecided then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { self.marks:row(undecided), 0 })
    self.marks:draw()
  end
  return true
end

function Review:show_tab()
  if self.tab and self.tab:focus() then
    return
  end
  local shown = self:current()
  self.tab = require('xcsh.review.tab').open(shown, function(content)
    if self.over then
      return
    elseif content == nil or content == shown.before then
      self.entry.settle('deny')
    elseif content == self.proposal.after and shown.before == self.proposal.before then
      self.entry.settle('once')
    else
      self:revise(content, shown.before)
    end
  end)
end

---Returns the proposal for the file as it is now, without the hunks that were left out.
---@return xcsh.review.Proposal
function Review:current()
  if not self.marks or not self.proposal.revisable then
    return self.proposal
  end
  local after, before = self.marks:with(function(mark)
    return mark.decision ~= 'undone'
  end)
  return self.proposal:rebased(before, after)
end

---Reads the proposal again, because the file may have changed since. Returns false if it no longer
---applies; marks in the file follow its edits.
function Review:refresh()
  if self.marks or (self.tab and vim.api.nvim_win_is_valid(self.tab.right)) then
    return true
  end
  local proposal = proposals.of(self.entry.params)
  self.proposal = proposal or self.proposal
  return proposal ~= nil
end

---Opens the review; returns false if the change cannot be shown, because the file has changed
---since.
---@param how? 'inline'|'tab'
---@return boolean
function Review:open(how)
  if self.over or not self:refresh() then
    return false
  end
  how = how or config.options.review or 'inline'
  if how == 'inline' and self:show_marks() then
    return true
  end
  self:show_tab()
  return true
end

---Returns the position of the first hunk in a loaded file, for :XcshReview.
---@return integer? bufnr, integer? row
function Review:where()
  if self.marks then
    local first = self.marks.marks[1]
    return self.marks.bufnr, self.marks:row(first)
  end
end

---Begins the review of an approval; nil if it is no change of a text file, or of one that the
---editor shows differently.
---@param entry xcsh.WaitingApproval
---@return xcsh.Review?
function M.begin(entry)
  local proposal = proposals.of(entry.params)
  if not proposal then
    return nil
  end
  local self = setmetatable({ entry = entry, proposal = proposal, over = false }, Review)
  table.insert(entry.gone, function()
    self:forget()
  end)
  if (config.options.review or 'inline') == 'inline' then
    self:mark()
  end
  return self
end

return M
