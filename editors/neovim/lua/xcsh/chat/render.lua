-- Draws pages in a buffer. Only changed lines are set, so that growing text does not scroll the
-- screen, and folds and cursors keep their positions.

local draw = require('xcsh.chat.draw')
local folds = require('xcsh.chat.folds')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_chat')

---@class xcsh.chat.Section
---@field item? xcsh.chat.Item nil for the tail
---@field rev integer
---@field page xcsh.chat.Page
---@field start integer first line, from 1

---The sections of each chat buffer.
---@type table<integer, xcsh.chat.Section[]>
local drawn = {}

---@param lines string[]
---@param sections xcsh.chat.Section[]
---@param first integer
---@param last integer
local function gather(lines, sections, first, last)
  for i = first, last do
    vim.list_extend(lines, sections[i].page.lines)
  end
  return lines
end

---Returns the sections of a state; unchanged ones are the same tables. Their start rows are set
---later.
---@param s xcsh.chat.State
---@param was xcsh.chat.Section[]
---@return xcsh.chat.Section[]
local function sections_of(s, was)
  local sections = {}
  for i, item in ipairs(s.items) do
    local old = was[i]
    if old and old.item == item and old.rev == item.rev then
      sections[i] = old
    else
      sections[i] = { item = item, rev = item.rev, page = draw.item(item), start = 0 }
    end
  end
  sections[#sections + 1] = { rev = 0, page = draw.tail(s), start = 0 }
  return sections
end

---@param sections xcsh.chat.Section[]
---@param from integer
local function number(sections, from)
  local row = from > 1 and sections[from - 1].start + #sections[from - 1].page.lines or 1
  for i = from, #sections do
    sections[i].start = row
    row = row + #sections[i].page.lines
  end
end

---@param bufnr integer
---@param sections xcsh.chat.Section[]
---@param first integer
---@param last integer
local function decorate(bufnr, sections, first, last)
  for i = first, last do
    local section = sections[i]
    for _, mark in ipairs(section.page.marks) do
      local row = section.start + mark.row - 2
      vim.api.nvim_buf_set_extmark(bufnr, namespace, row, mark.col, mark.opts)
    end
  end
end

---Returns the windows of a buffer whose cursor is at the end: they scroll with new text.
---@param bufnr integer
---@return integer[]
local function following(bufnr)
  local last = vim.api.nvim_buf_line_count(bufnr)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] >= last
  end, vim.fn.win_findbuf(bufnr))
end

---Compares old and new lines to find the changed part between their ends.
---@param old string[]
---@param new string[]
---@return integer prefix, integer suffix number of equal lines
local function same_ends(old, new)
  local prefix, shorter = 0, math.min(#old, #new)
  while prefix < shorter and old[prefix + 1] == new[prefix + 1] do
    prefix = prefix + 1
  end
  local suffix = 0
  while suffix < shorter - prefix and old[#old - suffix] == new[#new - suffix] do
    suffix = suffix + 1
  end
  return prefix, suffix
end

---Shows a state in its buffer.
---@param bufnr integer
---@param s xcsh.chat.State
function M.update(bufnr, s)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local was = drawn[bufnr] or {}
  local sections = sections_of(s, was)
  local first = 1
  while first <= #was and first <= #sections and was[first] == sections[first] do
    first = first + 1
  end
  -- Below the first difference all lines are compared. At most the tail of the list is equal there,
  -- and the comparison is cheap.
  local row = first > 1 and sections[first - 1].start + #sections[first - 1].page.lines or 1
  local old = drawn[bufnr] and gather({}, was, first, #was)
    or vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local new = gather({}, sections, first, #sections)
  local prefix, suffix = same_ends(old, new)
  local windows = following(bufnr)
  local open = folds.opened(bufnr, was, first)
  number(sections, first)
  drawn[bufnr] = sections
  if prefix + suffix < #old or prefix + suffix < #new then
    vim.bo[bufnr].modifiable = true
    local from, to = row - 1 + prefix, row - 1 + #old - suffix
    local changed = vim.list_slice(new, prefix + 1, #new - suffix)
    vim.api.nvim_buf_set_lines(bufnr, from, to, false, changed)
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr].modified = false
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, row - 1, -1)
  decorate(bufnr, sections, first, #sections)
  for window, known in pairs(open) do
    folds.make(window, sections, first, known)
  end
  local last = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(windows) do
    vim.api.nvim_win_set_cursor(window, { last, 0 })
  end
end

---@param bufnr integer
---@param row integer from 1
---@return xcsh.chat.Section?, integer? index
function M.section_at(bufnr, row)
  local sections = drawn[bufnr] or {}
  local low, high = 1, #sections
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if sections[middle].start <= row then
      low = middle
    else
      high = middle - 1
    end
  end
  return sections[low], low
end

---Makes the folds in a window that shows the buffer for the first time.
---@param bufnr integer
---@param window integer
function M.fold_all(bufnr, window)
  folds.make(window, drawn[bufnr] or {}, 1)
end

---Returns the row of the next or previous prompt.
---@param bufnr integer
---@param row integer
---@param step 1|-1
---@return integer?
function M.prompt_from(bufnr, row, step)
  local sections = drawn[bufnr] or {}
  local _, index = M.section_at(bufnr, row)
  local at = index or 1
  if step == 1 or (sections[at] and sections[at].start >= row) then
    at = at + step
  end
  while sections[at] do
    local item = sections[at].item
    if item and item.message.role == 'user' then
      return sections[at].start
    end
    at = at + step
  end
end

---Returns the prompt of the turn that a row belongs to.
---@param bufnr integer
---@param row integer
---@return xcsh.chat.Item?
function M.prompt_at(bufnr, row)
  local sections = drawn[bufnr] or {}
  local _, index = M.section_at(bufnr, row)
  for i = index or 0, 1, -1 do
    local item = sections[i].item
    if item and item.message.role == 'user' then
      return item
    end
  end
end

---Returns the approval that a row belongs to.
---@param bufnr integer
---@param row integer
---@return string?
function M.approval_at(bufnr, row)
  local section = M.section_at(bufnr, row)
  return section and section.page.calls[row - section.start + 1]
end

---Returns the first row of an approval.
---@param bufnr integer
---@param id string
---@return integer?
function M.row_of_approval(bufnr, id)
  local sections = drawn[bufnr] or {}
  for i = #sections, 1, -1 do
    local rows = vim.tbl_keys(sections[i].page.calls)
    table.sort(rows)
    for _, row in ipairs(rows) do
      if sections[i].page.calls[row] == id then
        return sections[i].start + row - 1
      end
    end
  end
end

---@param bufnr integer
function M.forget(bufnr)
  drawn[bufnr] = nil
end

return M
