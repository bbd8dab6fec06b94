-- telescope.nvim.

local M = {}

---@param pick xcsh.Pick
local function previewer(pick)
  if not pick.preview then
    return nil
  end
  return require('telescope.previewers').new_buffer_previewer({
    title = 'Conversation',
    define_preview = function(self, entry)
      local bufnr = self.state.bufnr
      vim.bo[bufnr].modeline = false
      pick.preview(entry.value, function(lines)
        if vim.api.nvim_buf_is_valid(bufnr) then
          vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
          require('telescope.previewers.utils').highlighter(bufnr, 'markdown')
        end
      end)
    end,
  })
end

---@param pick xcsh.Pick
function M.pick(pick)
  local actions = require('telescope.actions')
  local state = require('telescope.actions.state')

  ---@param bufnr integer
  ---@param run fun(item: any)
  local function leave(bufnr, run)
    local entry = state.get_selected_entry()
    if entry then
      -- Closing the list is also reported, but later.
      local item = entry.value
      vim.schedule(function()
        run(item)
      end)
      vim.b[bufnr].xcsh_left = true
    end
    actions.close(bufnr)
  end

  require('telescope.pickers')
    .new({}, {
      prompt_title = pick.prompt,
      finder = require('telescope.finders').new_table({
        results = pick.items,
        entry_maker = function(item)
          local line = pick.format(item)
          return { value = item, display = line, ordinal = line }
        end,
      }),
      sorter = require('telescope.config').values.generic_sorter({}),
      previewer = previewer(pick),
      attach_mappings = function(bufnr, map)
        actions.select_default:replace(function()
          leave(bufnr, pick.on_choice)
        end)
        for _, action in ipairs(pick.actions) do
          map({ 'i', 'n' }, action.key, function()
            leave(bufnr, action.run)
          end, { desc = action.does })
        end
        vim.api.nvim_create_autocmd('BufUnload', {
          buffer = bufnr,
          once = true,
          callback = function()
            if not vim.b[bufnr].xcsh_left then
              vim.schedule(function()
                pick.on_choice(nil)
              end)
            end
          end,
        })
        return true
      end,
    })
    :find()
end

return M
