-- Draws pages in a buffer. Only changed lines are set, so that growing text does not scroll the
-- screen, and folds and cursors keep their positions.

local draw = require('xcsh.chat.draw')
local folds = require('xcsh.chat.folds')
local pages = require('xcsh.chat.pages')
local reading = require('xcsh.chat.reading')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_chat')

---@class xcsh.chat.Section
---@field kind 'item'|'earlier'|'more'|'tail'
---@field item? xcsh.chat.Item
---@field rev integer
---@field page xcsh.chat.Page
---@field start integer first line, from 1

---The sections of each chat buffer.
---@type table<integer, xcsh.chat.Section[]>
local drawn = {}

---@param sections xcsh.chat.Section[]
---@param first integer
---@param last integer
---@return string[] lines
local function gather(sections, first, last)
  local lines = {}
  for i = first, last do
    vim.list_extend(lines, sections[i].page.lines)
  end
  return lines
end

---@param section? xcsh.chat.Section
---@return integer row after its last line
local function after(section)
  return section and section.start + #section.page.lines or 1
end

---Returns the sections of a state; unchanged ones are the same tables. Their start rows are set
---later.
---@param s xcsh.chat.State
---@param was xcsh.chat.Section[]
---@return xcsh.chat.Section[]
local function sections_of(s, was)
  local known, sections = {}, {}
  for _, section in ipairs(was) do
    known[section.item or section.kind] = section
  end
  local function put(key, rev, draw_page)
    local old = known[key]
    if not old or old.rev ~= rev then
      local item = type(key) == 'table' and key or nil
      local kind = item and 'item' or key
      old = { kind = kind, item = item, rev = rev, page = draw_page(key), start = 0 }
    end
    sections[#sections + 1] = old
  end
  local function put_missing(kind, count)
    -- The content of such a line is its revision.
    local page = count > 0 and draw.missing(kind, count, s.page_failed)
    if page then
      put(kind, page.lines[1], function()
        return page
      end)
    end
  end
  put_missing('earlier', pages.earlier(s))
  for _, item in ipairs(s.past and s.past.items or {}) do
    put(item, item.rev, draw.item)
  end
  put_missing('more', pages.between(s))
  for _, item in ipairs(s.items) do
    put(item, item.rev, draw.item)
  end
  sections[#sections + 1] = { kind = 'tail', rev = 0, page = draw.tail(s), start = 0 }
  return sections
end

---@param sections xcsh.chat.Section[]
local function number(sections)
  for i, section in ipairs(sections) do
    section.start = after(sections[i - 1])
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

---@class xcsh.chat.Hunk sections that replace others; a range can be empty
---@field old integer[] first and last
---@field new integer[] first and last
---@field row integer the first line before the change

---Compares old and new sections. The unchanged ones are in the same order.
---@param was xcsh.chat.Section[]
---@param sections xcsh.chat.Section[]
---@return xcsh.chat.Hunk[]
local function hunks_of(was, sections)
  local at, hunks = {}, {}
  for i, section in ipairs(sections) do
    at[section] = i
  end
  local i, j = 1, 1
  while i <= #was or j <= #sections do
    local old = i
    while was[i] and (at[was[i]] or 0) < j do
      i = i + 1
    end
    local to = was[i] and at[was[i]] or #sections + 1
    if i > old or to > j then
      local row = after(was[old - 1])
      hunks[#hunks + 1] = { old = { old, i - 1 }, new = { j, to - 1 }, row = row }
    end
    i, j = i + 1, to + 1
  end
  return hunks
end

---Replaces the lines of a hunk.
---@param bufnr integer
---@param hunk xcsh.chat.Hunk
---@param was xcsh.chat.Section[]
---@param sections xcsh.chat.Section[]
local function replace(bufnr, hunk, was, sections)
  local old = #was > 0 and gather(was, hunk.old[1], hunk.old[2])
    or vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local new = gather(sections, hunk.new[1], hunk.new[2])
  local from = hunk.row - 1
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, from, from + #old)
  local prefix, suffix = same_ends(old, new)
  if prefix + suffix < #old or prefix + suffix < #new then
    local changed = vim.list_slice(new, prefix + 1, #new - suffix)
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, from + prefix, from + #old - suffix, false, changed)
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr].modified = false
  end
end

---Shows a state in its buffer.
---@param bufnr integer
---@param s xcsh.chat.State
---@param where? xcsh.chat.Where the page that was added
function M.update(bufnr, s, where)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local was = drawn[bufnr] or {}
  local sections = sections_of(s, was)
  local hunks = hunks_of(was, sections)
  local windows = following(bufnr)
  local positions = reading.positions(bufnr, was, where)
  local blank = reading.blank(bufnr)
  local opened = {}
  for i, hunk in ipairs(hunks) do
    opened[i] = folds.opened(bufnr, vim.list_slice(was, hunk.old[1], hunk.old[2] + 1))
  end
  for i = #hunks, 1, -1 do
    replace(bufnr, hunks[i], was, sections)
  end
  number(sections)
  drawn[bufnr] = sections
  for i, hunk in ipairs(hunks) do
    decorate(bufnr, sections, hunk.new[1], hunk.new[2])
    -- A change moves folds in the section after it, too.
    local last = math.min(hunk.new[2] + 1, #sections)
    for window, known in pairs(opened[i]) do
      folds.make(window, sections, hunk.new[1], last, known)
    end
  end
  local last = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(windows) do
    vim.api.nvim_win_set_cursor(window, { last, 0 })
    positions[window] = nil
  end
  reading.restore(positions, sections)
  reading.fill(blank)
end

---@param bufnr integer
---@param row integer from 1
---@return xcsh.chat.Section?, integer? index
function M.section_at(bufnr, row)
  local sections = drawn[bufnr] or {}
  local index = reading.index_at(sections, row)
  return sections[index], index
end

---Makes the folds in a window that shows the buffer for the first time.
---@param bufnr integer
---@param window integer
function M.fold_all(bufnr, window)
  local sections = drawn[bufnr] or {}
  folds.make(window, sections, 1, #sections)
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
    if item and require('xcsh.chat.prompt').is(item.message) then
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
    if item and require('xcsh.chat.prompt').is(item.message) then
      return item
    elseif not item and sections[i].kind ~= 'tail' then
      return -- the prompt is not in the chat
    end
  end
end

---Returns the kind of the messages that are missing at a row.
---@param bufnr integer
---@param row integer
---@return 'earlier'|'more'|nil
function M.missing_at(bufnr, row)
  local section = M.section_at(bufnr, row)
  local kind = section and row == section.start and section.kind
  return (kind == 'earlier' or kind == 'more') and kind or nil
end

---Returns the rows in place of missing messages.
---@param bufnr integer
---@return { earlier?: integer, more?: integer }
function M.missing(bufnr)
  local rows = {}
  for _, section in ipairs(drawn[bufnr] or {}) do
    if section.kind == 'earlier' or section.kind == 'more' then
      rows[section.kind] = section.start
    end
  end
  return rows
end

---Returns the message at a row; below the last message, nil.
---@param bufnr integer
---@param row integer
---@return xcsh.chat.Item?
function M.item_at(bufnr, row)
  local sections = drawn[bufnr] or {}
  local section, index = M.section_at(bufnr, row)
  while section and not section.item do
    index = index + 1
    section = sections[index]
  end
  return section and section.item
end

---Returns the rows of a message.
---@param bufnr integer
---@param item xcsh.chat.Item
---@return integer? first, integer? last
function M.rows_of(bufnr, item)
  for _, section in ipairs(drawn[bufnr] or {}) do
    if section.item == item then
      return section.start, after(section) - 1
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
