-- Folds of a conversation: thinking and tool output, closed by default. They are manual, because
-- Neovim does not evaluate 'foldexpr' in Insert mode.

local M = {}

---The open folds, by item or kind of section, and number. Must be read before lines are set,
---because that removes their folds.
---@alias xcsh.chat.Opened table<any, table<integer, boolean>>

---@param window integer
---@param sections xcsh.chat.Section[]
---@return xcsh.chat.Opened
local function opened_in(window, sections)
  return vim.api.nvim_win_call(window, function()
    local opened = {}
    for _, section in ipairs(sections) do
      for number, fold in ipairs(section.page.folds) do
        local row = section.start + fold.first - 1
        if vim.fn.foldlevel(row) > 0 and vim.fn.foldclosed(row) == -1 then
          local key = section.item or section.kind
          opened[key] = opened[key] or {}
          opened[key][number] = true
        end
      end
    end
    return opened
  end)
end

---Returns the open folds in each window that shows the buffer.
---@param bufnr integer
---@param sections xcsh.chat.Section[] those that change
---@return table<integer, xcsh.chat.Opened>
function M.opened(bufnr, sections)
  local all = {}
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    all[window] = opened_in(window, sections)
  end
  return all
end

---@param first integer
---@param last integer
---@param again boolean there may be remnants of an older fold
local function fold(first, last, again)
  if vim.fn.foldclosed(first) == first and vim.fn.foldclosedend(first) == last then
    return -- unchanged
  end
  local command = ('silent! keepjumps %d,%dfold'):format(first, last)
  vim.cmd(command)
  if again then
    vim.cmd(('silent! keepjumps %dnormal! zD'):format(first))
    vim.cmd(command)
  end
end

---Deletes the folds that hide lines outside of all sections' folds. Neovim 0.10 moves a fold below
---its lines when its last line is replaced by several lines.
---@param sections xcsh.chat.Section[]
---@param from integer
---@param to integer
local function delete_misplaced(sections, from, to)
  local row = sections[from] and sections[from].start or 1
  local function delete_before(stop)
    while row < stop do
      if vim.fn.foldlevel(row) > 0 then
        vim.cmd(('silent! keepjumps %dnormal! zD'):format(row))
      end
      row = row + 1
    end
  end
  for i = from, to do
    local section = sections[i]
    for _, range in ipairs(section.page.folds) do
      delete_before(section.start + range.first - 1)
      row = math.max(row, section.start + range.last)
    end
  end
  local after = sections[to + 1]
  delete_before(after and after.start or vim.api.nvim_buf_line_count(0) + 1)
end

---Makes the folds of a range of sections.
---@param window integer
---@param sections xcsh.chat.Section[]
---@param from integer
---@param to integer
---@param opened? xcsh.chat.Opened nil in a window that has no folds yet
function M.make(window, sections, from, to, opened)
  vim.api.nvim_win_call(window, function()
    if vim.wo.foldmethod ~= 'manual' then
      return -- the user changed the fold method
    end
    local view = vim.fn.winsaveview()
    if opened then
      delete_misplaced(sections, from, to)
    end
    for i = from, to do
      local section = sections[i]
      local known = opened and opened[section.item or section.kind] or {}
      for number, range in ipairs(section.page.folds) do
        local first = section.start + range.first - 1
        fold(first, section.start + range.last - 1, opened ~= nil)
        if known[number] then
          vim.cmd(('silent! %dfoldopen'):format(first))
        end
      end
    end
    vim.fn.winrestview(view)
  end)
end

return M
