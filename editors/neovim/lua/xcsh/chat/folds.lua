-- Folds of a conversation: thoughts and what tools said, closed until they are opened.
-- They are made by hand, because Neovim does not ask 'foldexpr' while somebody types.

local M = {}

---Which folds are open, by item and number. Asked before lines are set, which takes the
---folds there away.
---@alias xcsh.chat.Opened table<any, table<integer, boolean>>

---@param window integer
---@param sections xcsh.chat.Section[]
---@param from integer
---@return xcsh.chat.Opened
local function opened_in(window, sections, from)
  return vim.api.nvim_win_call(window, function()
    local opened = {}
    for i = from, #sections do
      local section = sections[i]
      for number, fold in ipairs(section.page.folds) do
        local row = section.start + fold.first - 1
        if vim.fn.foldlevel(row) > 0 and vim.fn.foldclosed(row) == -1 and section.item then
          opened[section.item] = opened[section.item] or {}
          opened[section.item][number] = true
        end
      end
    end
    return opened
  end)
end

---What is open in each window that shows the buffer.
---@param bufnr integer
---@param sections xcsh.chat.Section[]
---@param from integer the first section that changes
---@return table<integer, xcsh.chat.Opened>
function M.opened(bufnr, sections, from)
  local all = {}
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    all[window] = opened_in(window, sections, from)
  end
  return all
end

---@param first integer
---@param last integer
---@param again boolean there may be what was left of an older fold
local function fold(first, last, again)
  if vim.fn.foldclosed(first) == first and vim.fn.foldclosedend(first) == last then
    return -- it was not touched
  end
  local command = ('silent! keepjumps %d,%dfold'):format(first, last)
  vim.cmd(command)
  if again then
    vim.cmd(('silent! keepjumps %dnormal! zD'):format(first))
    vim.cmd(command)
  end
end

---Makes the folds of all sections from one on.
---@param window integer
---@param sections xcsh.chat.Section[]
---@param from integer
---@param opened? xcsh.chat.Opened nil in a window that has no folds yet
function M.make(window, sections, from, opened)
  vim.api.nvim_win_call(window, function()
    if vim.wo.foldmethod ~= 'manual' then
      return -- the person folds in another way
    end
    local view = vim.fn.winsaveview()
    for i = from, #sections do
      local section = sections[i]
      local known = opened and opened[section.item or ''] or {}
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
