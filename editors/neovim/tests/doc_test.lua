-- The help file documents all user-visible features.

local runner = require('runner')
local case, eq, like = runner.case, runner.eq, runner.like

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)))

local function help()
  return table.concat(vim.fn.readfile(root .. '/doc/xcsh.txt'), '\n')
end

---Returns the tags of the help file, generated in a copy of it.
local function tags()
  local dir = vim.fn.tempname()
  vim.fn.mkdir(dir, 'p')
  vim.fn.writefile(vim.fn.readfile(root .. '/doc/xcsh.txt'), dir .. '/xcsh.txt')
  vim.cmd('helptags ' .. vim.fn.fnameescape(dir))
  local found = {}
  for _, line in ipairs(vim.fn.readfile(dir .. '/tags')) do
    found[line:match('^[^\t]+')] = true
  end
  return found
end

---@param wanted string[]
local function all_in(wanted, found)
  local missing = vim.tbl_filter(function(tag)
    return not found[tag]
  end, wanted)
  eq({}, missing)
end

case('every command has an entry', function()
  local wanted = {}
  for name in pairs(vim.api.nvim_get_commands({})) do
    if vim.startswith(name, 'Xcsh') then
      table.insert(wanted, ':' .. name)
    end
  end
  eq(true, #wanted > 25)
  all_in(wanted, tags())
end)

case('every function of the API has an entry', function()
  local wanted = {}
  for name in pairs(require('xcsh')) do
    table.insert(wanted, 'xcsh.' .. name .. '()')
  end
  all_in(wanted, tags())
end)

case('every highlight group has an entry with its default link', function()
  local links = require('xcsh.highlights').links
  all_in(vim.tbl_keys(links), tags())
  for group, like_this in pairs(links) do
    like('%*' .. group .. '%*\t+' .. like_this .. ': %S', help())
  end
end)

case('every autocommand has an entry', function()
  local wanted = {}
  for path in vim.fs.dir(root .. '/lua/xcsh') do
    if vim.endswith(path, '.lua') then
      local text = table.concat(vim.fn.readfile(root .. '/lua/xcsh/' .. path), '\n')
      for name in text:gmatch("[(]'(Xcsh%u%a+)'[,)]") do
        table.insert(wanted, name)
      end
    end
  end
  eq(true, #wanted >= 5)
  all_in(wanted, tags())
end)

case('every setting has an entry', function()
  local types = table.concat(vim.fn.readfile(root .. '/lua/xcsh/types.lua'), '\n')
  local names = 0
  for _, class in ipairs({ 'xcsh.Config', 'xcsh.ChangesConfig', 'xcsh.ChatConfig' }) do
    local fields = types:match('class %(exact%) ' .. vim.pesc(class) .. '\n(.-)\n\n')
    for name in fields:gmatch('@field ([%w_]+)') do
      names = names + 1
      like('\n\t\t\t *' .. name .. '%s', help())
    end
  end
  eq(14, names)
  for _, value in ipairs(require('xcsh.config').pickers) do
    like('"' .. vim.pesc(value) .. '"', help())
  end
end)

case('every key of the chat has an entry', function()
  local keys = require('xcsh.chat.keys')
  for _, key in ipairs(vim.list_extend(vim.list_slice(keys.conversation), keys.prompt)) do
    like('\n\t' .. vim.pesc(key.lhs) .. '\t', help())
  end
end)

case('every reference in the help file has a target', function()
  local found = tags()
  for tag in help():gmatch('|([^|%s]+)|') do
    if tag:lower():find('xcsh') then
      eq({ tag, true }, { tag, found[tag] or false })
    end
  end
  for _, line in ipairs(vim.split(help(), '\n')) do
    eq(true, vim.fn.strdisplaywidth(line) <= 80 or line)
  end
end)
