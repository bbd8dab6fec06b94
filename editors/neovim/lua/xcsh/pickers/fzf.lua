-- fzf-lua. fzf handles only texts, so each line starts with the number of its item, which is
-- hidden.

local M = {}

---@param pick xcsh.Pick
---@param line string?
local function item_of(pick, line)
  local number = line and tonumber(line:match('^(%d+)\t'))
  return number and pick.items[number]
end

---@param pick xcsh.Pick
local function previewer(pick)
  if not pick.preview then
    return nil
  end
  return {
    _ctor = function()
      local Previewer = require('fzf-lua.previewer.builtin').base:extend()

      function Previewer:new(o, opts, window)
        Previewer.super.new(self, o, opts, window)
        setmetatable(self, Previewer)
        return self
      end

      function Previewer:populate_preview_buf(line)
        local item = item_of(pick, line)
        if not item then
          return false
        end
        local bufnr = self:get_tmp_buffer()
        vim.bo[bufnr].modeline = false
        self:set_preview_buf(bufnr)
        pick.preview(item, function(lines)
          if vim.api.nvim_buf_is_valid(bufnr) then
            vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
            vim.bo[bufnr].filetype = 'markdown'
          end
        end)
      end

      return Previewer
    end,
  }
end

---Converts a key such as "<C-f>" to fzf's notation.
---@param key string
local function fzf_key(key)
  return key:gsub('^<C%-(.)>$', 'ctrl-%1'):gsub('^<M%-(.)>$', 'alt-%1'):lower()
end

---@param pick xcsh.Pick
function M.pick(pick)
  local lines = {}
  for i, item in ipairs(pick.items) do
    lines[i] = i .. '\t' .. pick.format(item):gsub('[\t\n]', ' ')
  end
  local function close()
    pick.on_choice(nil)
  end
  local actions = {
    ['esc'] = close,
    ['ctrl-c'] = close,
    ['enter'] = function(selected)
      pick.on_choice(item_of(pick, selected[1]))
    end,
  }
  local keys = {}
  for _, action in ipairs(pick.actions) do
    actions[fzf_key(action.key)] = function(selected)
      local item = item_of(pick, selected[1])
      if item then
        action.run(item)
      else
        pick.on_choice(nil)
      end
    end
    keys[#keys + 1] = action.key .. ' ' .. action.does
  end
  require('fzf-lua').fzf_exec(lines, {
    prompt = pick.prompt .. '> ',
    actions = actions,
    previewer = previewer(pick),
    fzf_opts = {
      ['--delimiter'] = '\t',
      ['--with-nth'] = '2..',
      ['--no-multi'] = true,
      ['--header'] = table.concat(keys, ' · '),
    },
    -- fzf-lua calls this in its own coroutine, which must not prompt the user.
    fn_selected = vim.schedule_wrap(function(selected, opts)
      if not selected or #selected == 0 then
        return close()
      end
      require('fzf-lua.actions').act(selected, opts)
    end),
  })
end

return M
