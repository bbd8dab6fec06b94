-- Selecting from lists: vim.ui.select, and the subset of each picker plugin that is used. The
-- plugins here are fakes that implement the documented calls of the real ones.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local first, second = '15d56a686bbe6801', '25d56a686bbe6802'

local function two_sessions()
  local folder = vim.fn.getcwd()
  harness.session(folder, first, 'How do boats float?', 'By displacing water.')
  return harness.session(folder, second, 'Why is the sky blue?', 'Rayleigh scattering.')
end

---Pretends that plugins are installed.
---@param loaded table<string, table>
local function installed(loaded)
  for name, module in pairs(loaded) do
    package.loaded[name] = module
  end
  return function()
    for name in pairs(loaded) do
      package.loaded[name] = nil
    end
  end
end

---Fakes telescope.nvim: a list is a table that the test drives.
local function telescope()
  local shown = {}
  local close = function(bufnr)
    vim.api.nvim_buf_delete(bufnr, { force = true })
  end
  local modules = {
    telescope = {},
    ['telescope.pickers'] = {
      new = function(_, opts)
        return {
          find = function()
            local bufnr = vim.api.nvim_create_buf(false, true)
            local list = { bufnr = bufnr, opts = opts, keys = {}, title = opts.prompt_title }
            table.insert(shown, list)
            opts.attach_mappings(bufnr, function(_, key, run)
              list.keys[key] = run
            end)
          end,
        }
      end,
    },
    ['telescope.finders'] = {
      new_table = function(opts)
        return vim.tbl_map(opts.entry_maker, opts.results)
      end,
    },
    ['telescope.config'] = { values = { generic_sorter = function() end } },
    ['telescope.actions'] = {
      close = close,
      select_default = {
        replace = function(_, run)
          shown[#shown].choose = run
        end,
      },
    },
    ['telescope.actions.state'] = {
      get_selected_entry = function()
        return shown[#shown].selected
      end,
    },
    ['telescope.previewers'] = {
      new_buffer_previewer = function(opts)
        return opts
      end,
    },
    ['telescope.previewers.utils'] = { highlighter = function() end },
  }
  return shown, installed(modules)
end

---Fakes fzf-lua.
local function fzf()
  local shown = {}
  local base = {}
  function base.extend(self)
    local class = { super = self }
    class.__index = class
    return setmetatable(class, {
      __index = self,
      __call = function(_, ...)
        local object = setmetatable({}, class)
        object:new(...)
        return object
      end,
    })
  end
  function base.new() end
  function base.get_tmp_buffer()
    return vim.api.nvim_create_buf(false, true)
  end
  function base.set_preview_buf(self, bufnr)
    self.shown = bufnr
  end
  local modules = {
    ['fzf-lua'] = {
      fzf_exec = function(lines, opts)
        table.insert(shown, { lines = lines, opts = opts })
      end,
    },
    ['fzf-lua.actions'] = {
      act = function(selected, opts)
        local key = selected[1]
        opts.actions[key](vim.list_slice(selected, 2))
      end,
    },
    ['fzf-lua.previewer.builtin'] = { base = base },
  }
  return shown, installed(modules)
end

---Fakes snacks.nvim.
local function snacks()
  local shown = {}
  local picker = {
    pick = function(opts)
      local list = { opts = opts }
      list.picker = {
        close = function()
          list.closed = true
          opts.on_close()
        end,
        current = function()
          return list.current
        end,
      }
      table.insert(shown, list)
    end,
  }
  return shown, installed({ snacks = { picker = picker }, ['snacks.picker'] = picker })
end

local function opened(shown, number)
  return wait('the list', function()
    return shown[number or 1]
  end)
end

case('telescope lists, previews, and resumes sessions', function()
  two_sessions()
  local shown, remove = telescope()
  vim.cmd('XcshResume')
  local list = opened(shown)
  local entries = list.opts.finder
  eq(2, #entries)
  like('^Why is the sky blue%? · 2 messages', entries[1].display)
  local bufnr = vim.api.nvim_create_buf(false, true)
  list.opts.previewer.define_preview({ state = { bufnr = bufnr } }, entries[2])
  wait('the conversation', function()
    local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
    return text:find('By displacing water')
  end)
  list.selected = entries[2]
  list.choose()
  harness.message('^Resumed ')
  eq(first, harness.execute('xcsh.state').sessionId)
  eq(1, #harness.notified)
  remove()
end)

case('closing telescope does not switch sessions', function()
  two_sessions()
  local shown, remove = telescope()
  vim.cmd('XcshResume')
  vim.api.nvim_buf_delete(opened(shown).bufnr, { force = true })
  harness.message('^No session selected%.$')
  remove()
end)

case('telescope has keys for the other session actions', function()
  local path = two_sessions()
  local shown, remove = telescope()
  vim.cmd('XcshResume')
  local list = opened(shown)
  eq(
    { '<C-e>', '<C-f>', '<C-g>', '<C-x>', '<C-y>' },
    (function()
      local keys = vim.tbl_keys(list.keys)
      table.sort(keys)
      return keys
    end)()
  )
  list.selected = list.opts.finder[1]
  list.keys['<C-f>']()
  harness.message('^Forked into ')
  eq(true, harness.execute('xcsh.state').sessionId ~= second)
  -- Deleting asks for confirmation, and the list is shown again.
  vim.cmd('XcshResume')
  list = opened(shown, 2)
  for _, entry in ipairs(list.opts.finder) do
    if entry.value.path == path then
      list.selected = entry
    end
  end
  harness.answer('Delete')
  list.keys['<C-x>']()
  harness.message('to the trash')
  eq(0, vim.fn.filereadable(path))
  list = opened(shown, 3)
  -- Switches to the other projects, and back.
  harness.session(harness.folder('elsewhere'), '35d56a686bbe6803', 'Elsewhere?', 'Yes.')
  list.selected = list.opts.finder[1]
  list.keys['<C-g>']()
  local wide = opened(shown, 4)
  like('elsewhere', wide.opts.finder[1].display .. wide.opts.finder[#wide.opts.finder].display)
  require('xcsh').setup({ register = 'x' })
  wide.selected = wide.opts.finder[1]
  wide.keys['<C-y>']()
  harness.message('Copied session ID .* to register x')
  eq(wide.selected.value.id, vim.fn.getreg('x'))
  remove()
end)

case('fzf-lua lists, previews, and resumes sessions', function()
  two_sessions()
  local shown, remove = fzf()
  vim.cmd('XcshResume')
  local list = opened(shown)
  like('^1\tWhy is the sky blue%? · 2 messages', list.lines[1])
  eq('2..', list.opts.fzf_opts['--with-nth'])
  local class = list.opts.previewer._ctor()
  local previewer = class({}, {})
  previewer:populate_preview_buf(list.lines[2])
  wait('the conversation', function()
    local lines = vim.api.nvim_buf_get_lines(previewer.shown, 0, -1, false)
    return table.concat(lines, '\n'):find('By displacing water')
  end)
  list.opts.fn_selected({ 'enter', list.lines[2] }, list.opts)
  harness.message('^Resumed ')
  eq(first, harness.execute('xcsh.state').sessionId)
  vim.cmd('XcshResume')
  list = opened(shown, 2)
  list.opts.fn_selected({ 'esc' }, list.opts)
  harness.message('^No session selected%.$')
  vim.cmd('XcshResume')
  list = opened(shown, 3)
  list.opts.fn_selected({ 'ctrl-f', list.lines[1] }, list.opts)
  harness.message('^Forked into ')
  remove()
end)

case('snacks lists, previews, and resumes sessions', function()
  two_sessions()
  local shown, remove = snacks()
  vim.cmd('XcshResume')
  local list = opened(shown)
  like('^Why is the sky blue%? · 2 messages', list.opts.items[1].text)
  local preview
  list.current = list.opts.items[2]
  list.opts.preview({
    item = list.current,
    picker = list.picker,
    preview = {
      reset = function() end,
      minimal = function() end,
      highlight = function() end,
      set_lines = function(_, lines)
        preview = table.concat(lines, '\n')
      end,
    },
  })
  wait('the conversation', function()
    return preview and preview:find('By displacing water')
  end)
  list.opts.actions.confirm(list.picker, list.opts.items[2])
  harness.message('^Resumed ')
  eq(first, harness.execute('xcsh.state').sessionId)
  eq(1, #harness.notified)
  vim.cmd('XcshResume')
  opened(shown, 2).picker.close()
  harness.message('^No session selected%.$')
  remove()
end)

case('the configured picker is used, or vim.ui.select if it is not installed', function()
  two_sessions()
  local shown, remove = telescope()
  require('xcsh').setup({ picker = 'select' })
  harness.close_question()
  vim.cmd('XcshResume')
  harness.message('^No session selected%.$')
  eq({ 0, 1 }, { #shown, #harness.asked })
  remove()
  require('xcsh').setup({ picker = 'telescope' })
  harness.close_question()
  vim.cmd('XcshResume')
  harness.message('^The picker "telescope" is not installed%. Using vim%.ui%.select%.$')
  eq(false, (pcall(require('xcsh').setup, { picker = 'teleskop' })))
end)

case('a picker that fails is reported, and vim.ui.select is used', function()
  two_sessions()
  local _, remove = telescope()
  package.loaded['telescope.pickers'].new = function()
    error('it is of another time')
  end
  harness.answer('How do boats float?')
  vim.cmd('XcshResume')
  harness.message('^The picker "telescope" failed: .*it is of another time$')
  harness.message('^Resumed ')
  remove()
end)

case('the buffer of :XcshList has keys for session actions', function()
  two_sessions()
  vim.cmd('XcshList')
  wait('the list', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://sessions'
  end)
  vim.fn.search('How do boats float')
  require('xcsh').setup({ register = 'x' })
  vim.api.nvim_feedkeys(vim.keycode('<C-y>'), 'xt', false)
  harness.message('Copied session ID .* to register x')
  eq(first, vim.fn.getreg('x'))
  vim.api.nvim_feedkeys('p', 'xt', false)
  wait('the conversation', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://dump'
  end)
  like('By displacing water', table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'))
end)
