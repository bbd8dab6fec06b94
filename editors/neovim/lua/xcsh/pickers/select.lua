-- vim.ui.select, which users may replace. It has neither previews nor keys.

local M = {}

---@param pick xcsh.Pick
function M.pick(pick)
  vim.ui.select(pick.items, {
    prompt = pick.prompt,
    kind = pick.kind,
    format_item = pick.format,
  }, function(item)
    pick.on_choice(item)
  end)
end

return M
