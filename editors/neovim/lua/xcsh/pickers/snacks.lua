-- snacks.nvim.

local M = {}

---@param pick xcsh.Pick
local function previewer(pick)
  if not pick.preview then
    return 'none'
  end
  return function(ctx)
    local item = ctx.item.item
    ctx.preview:reset()
    ctx.preview:minimal()
    pick.preview(item, function(lines)
      local now = ctx.picker:current()
      -- The user may have moved to another item meanwhile.
      if not ctx.picker.closed and now and now.item == item then
        ctx.preview:set_lines(lines)
        ctx.preview:highlight({ ft = 'markdown' })
      end
    end)
    return true
  end
end

---@param pick xcsh.Pick
function M.pick(pick)
  local items = {}
  for i, item in ipairs(pick.items) do
    items[i] = { text = pick.format(item), item = item, idx = i }
  end

  ---@param run fun(item: any)
  local function leave(run)
    return function(picker, entry)
      if not entry then
        return picker:close()
      end
      -- Closing the list is also reported, but later.
      vim.schedule(function()
        run(entry.item)
      end)
      picker:close()
    end
  end

  local actions, keys = { confirm = leave(pick.on_choice) }, {}
  for i, action in ipairs(pick.actions) do
    local name = 'xcsh_' .. i
    actions[name] = { action = leave(action.run), desc = action.does }
    keys[action.key] = { name, mode = { 'n', 'i' }, desc = action.does }
  end
  require('snacks').picker.pick({
    title = pick.prompt,
    items = items,
    format = 'text',
    preview = previewer(pick),
    actions = actions,
    win = { input = { keys = keys } },
    on_close = function()
      vim.schedule(function()
        vim.schedule(function()
          pick.on_choice(nil)
        end)
      end)
    end,
  })
end

return M
