-- A proposed change as marks in its file: the lines that would be removed are highlighted, and
-- those that would be added are virtual lines. The buffer itself changes only once the server
-- applies the answer. The user can go on editing the file; a hunk whose lines were edited cannot be
-- kept.

local proposals = require('xcsh.review.proposal')
local text = require('xcsh.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_review')

---More lines of a hunk are not shown in the file; the diff tab shows all of them.
local max_lines = 500

---@class xcsh.review.Mark
---@field hunk xcsh.review.Hunk
---@field anchor integer extmark at the replaced lines
---@field drawn integer[] further extmarks
---@field decision? 'kept'|'undone'

---@class xcsh.review.Marks
---@field bufnr integer
---@field proposal xcsh.review.Proposal
---@field marks xcsh.review.Mark[] from top to bottom
---@field mapped string[]
local Marks = {}
Marks.__index = Marks

---Scrolls windows at the top of the buffer so that virtual lines above the first line are visible.
---@param bufnr integer
---@param count integer
function M.show_top(bufnr, count)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_call(window, function()
      if vim.fn.line('w0') == 1 then
        vim.fn.winrestview({ topline = 1, topfill = math.min(count, vim.fn.winheight(0) - 1) })
      end
    end)
  end
end

---@param line string
local function bare(line)
  return (line:gsub('\r?\n$', ''))
end

---Returns the rows of a hunk: from 0, end exclusive.
---@param mark xcsh.review.Mark
---@return integer first, integer last
function Marks:rows(mark)
  local at =
    vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, mark.anchor, { details = true })
  local first = at[1] or 0
  return first, #mark.hunk.old == 0 and first or (at[3] and at[3].end_row or first)
end

---Reports whether the lines that a hunk replaces are still there.
---@param mark xcsh.review.Mark
function Marks:applies(mark)
  local first, last = self:rows(mark)
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, first, last, false)
  if #lines ~= #mark.hunk.old then
    return false
  end
  for i, line in ipairs(lines) do
    local old = mark.hunk.old[i]:gsub('\n$', '')
    if line ~= old and line ~= bare(old) then
      return false
    end
  end
  return true
end

---@param mark xcsh.review.Mark
---@param row integer
---@param options vim.api.keyset.set_extmark
function Marks:put(mark, row, options)
  row = math.max(0, math.min(row, vim.api.nvim_buf_line_count(self.bufnr) - 1))
  options.strict = false
  local id = vim.api.nvim_buf_set_extmark(self.bufnr, namespace, row, 0, options)
  table.insert(mark.drawn, id)
end

---Returns the added lines as virtual lines.
---@param hunk xcsh.review.Hunk
---@return table[]
local function virtual(hunk)
  local lines = {}
  for i, line in ipairs(hunk.new) do
    if i > max_lines then
      lines[i] = { { ('… %d more lines'):format(#hunk.new - max_lines), 'XcshNote' } }
      break
    end
    local shown = text.line(bare(line))
    lines[i] = { { shown == '' and ' ' or shown, 'XcshDiffAdd' } }
  end
  return lines
end

---@param mark xcsh.review.Mark
---@param i integer its number
function Marks:hint(mark, i)
  local where = ('%d of %d'):format(i, #self.marks)
  if mark.decision == 'undone' or mark.decision and self:applies(mark) then
    local said = { kept = 'will be kept', undone = 'will be left out' }
    return (' … %s · %s'):format(where, said[mark.decision])
  elseif not self:applies(mark) then
    return (' … %s · you edited these lines, so it cannot be kept · gxu leave out'):format(
      where
    )
  elseif not self.proposal.revisable then
    return (' … %s · gxK keep all · gxU reject all · ]x next'):format(where)
  end
  return (' … %s · gxk keep · gxu leave out · ]x next'):format(where)
end

---@param mark xcsh.review.Mark
---@param i integer
function Marks:draw_hunk(mark, i)
  for _, id in ipairs(mark.drawn) do
    vim.api.nvim_buf_del_extmark(self.bufnr, namespace, id)
  end
  mark.drawn = {}
  local first, last = self:rows(mark)
  local applies, hunk = self:applies(mark), mark.hunk
  local shown = applies and mark.decision ~= 'undone'
  -- The text of an insertion follows the line before it, if there is one.
  local row = #hunk.old == 0 and math.max(first - 1, 0) or first
  local above = #hunk.old == 0 and first == 0
  self:put(mark, row, {
    virt_text = { { self:hint(mark, i), 'XcshApproval' } },
    virt_text_pos = 'eol',
    sign_text = mark.decision == 'kept' and '✓' or mark.decision == 'undone' and '✗' or '▸',
    sign_hl_group = 'XcshApproval',
  })
  if not shown then
    return
  end
  for at = first, last - 1 do
    self:put(mark, at, { line_hl_group = 'XcshDiffDelete', end_row = at })
  end
  if #hunk.new > 0 then
    self:put(mark, #hunk.old == 0 and row or last - 1, {
      virt_lines = virtual(hunk),
      virt_lines_above = above,
    })
    if above then
      M.show_top(self.bufnr, math.min(#hunk.new, max_lines + 1))
    end
  end
end

function Marks:draw()
  for i, mark in ipairs(self.marks) do
    self:draw_hunk(mark, i)
  end
end

---Marks the hunks of a proposal in the buffer of its file, which holds the text that the proposal
---was made from.
---@param bufnr integer
---@param proposal xcsh.review.Proposal
---@param unloaded fun() called when the buffer is unloaded
---@return xcsh.review.Marks
function M.new(bufnr, proposal, unloaded)
  require('xcsh.highlights').define()
  local self = setmetatable({ bufnr = bufnr, proposal = proposal, marks = {}, mapped = {} }, Marks)
  local count = vim.api.nvim_buf_line_count(bufnr)
  for _, hunk in ipairs(proposal.hunks) do
    local first = math.min(hunk.first - 1, count)
    local options = { strict = false, right_gravity = #hunk.old == 0 and first > 0 }
    if #hunk.old > 0 then
      options.end_row, options.end_col = first + #hunk.old, 0
      options.end_right_gravity = false
    end
    table.insert(self.marks, {
      hunk = hunk,
      anchor = vim.api.nvim_buf_set_extmark(bufnr, namespace, first, 0, options),
      drawn = {},
    })
  end
  self:draw()
  local group = vim.api.nvim_create_augroup('xcsh_review_' .. bufnr, {})
  vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      self:draw()
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', { group = group, buffer = bufnr, callback = unloaded })
  return self
end

---Maps keys in the buffer. Mappings of the user's are kept.
---@param keys { lhs: string, does: string, run: fun() }[]
function Marks:map(keys)
  require('xcsh.changes.keys').unmap(self.bufnr)
  local taken = {}
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(self.bufnr, 'n')) do
    taken[map.lhs] = true
  end
  for _, key in ipairs(keys) do
    if not taken[key.lhs] then
      table.insert(self.mapped, key.lhs)
      vim.keymap.set('n', key.lhs, key.run, { buffer = self.bufnr, desc = 'xcsh: ' .. key.does })
    end
  end
end

---Removes everything from the buffer.
function Marks:clear()
  pcall(vim.api.nvim_del_augroup_by_name, 'xcsh_review_' .. self.bufnr)
  if not vim.api.nvim_buf_is_valid(self.bufnr) then
    return
  end
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  for _, lhs in ipairs(self.mapped) do
    pcall(vim.keymap.del, 'n', lhs, { buffer = self.bufnr })
  end
  self.mapped = {}
  require('xcsh.changes.keys').back(self.bufnr)
end

---Returns the hunk at a row, from 1: the one whose lines contain it, else the nearest.
---@param row integer
---@param wanted? fun(mark: xcsh.review.Mark): boolean
---@return xcsh.review.Mark?
function Marks:nearest(row, wanted)
  local best, least
  for _, mark in ipairs(self.marks) do
    if not wanted or wanted(mark) then
      local first, last = self:rows(mark)
      local far = row <= first and first + 1 - row or math.max(0, row - math.max(last, first + 1))
      if not least or far < least then
        best, least = mark, far
      end
    end
  end
  return best
end

---Returns the row of a hunk, from 1, on which its hint is.
---@param mark xcsh.review.Mark
function Marks:row(mark)
  local first = self:rows(mark)
  local row = #mark.hunk.old == 0 and math.max(first - 1, 0) or first
  return math.min(row + 1, vim.api.nvim_buf_line_count(self.bufnr))
end

---Reports whether every hunk is decided.
function Marks:complete()
  return vim.iter(self.marks):all(function(mark)
    return mark.decision ~= nil
  end)
end

---Returns the text of the file with some hunks, the text of the buffer, and the number of these
---hunks. A hunk whose lines the user has edited is left out.
---@param wanted fun(mark: xcsh.review.Mark): boolean
---@return string content, string base, integer kept
function Marks:with(wanted)
  local base = proposals.text_of(self.bufnr)
  local line_end = base:find('\r\n') and '\r\n' or '\n'
  local lines, result, at, kept = proposals.lines(base), {}, 1, 0
  for _, mark in ipairs(self.marks) do
    local first, last = self:rows(mark)
    if wanted(mark) and self:applies(mark) and first + 1 >= at then
      kept = kept + 1
      vim.list_extend(result, lines, at, first)
      -- A line that gets a successor ends.
      if #result > 0 and #mark.hunk.new > 0 and not result[#result]:find('\n$') then
        result[#result] = result[#result] .. line_end
      end
      vim.list_extend(result, mark.hunk.new)
      at = last + 1
    end
  end
  vim.list_extend(result, lines, at)
  return table.concat(result), base, kept
end

return M
